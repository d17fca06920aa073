import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What requests to the proxy used: one row each, in partitions by month that the service makes ahead. No foreign
 * keys: records survive key, upstream, member and organization.
 */
export class UsageRecords1764100000000 implements MigrationInterface {
  readonly name = 'UsageRecords1764100000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE usage_records (
        id uuid NOT NULL,
        at timestamptz(3) NOT NULL,
        request_id text NOT NULL,
        organization_id bigint NOT NULL,
        user_id text COLLATE "C" NOT NULL,
        key_id bigint NOT NULL,
        upstream_id bigint,
        upstream_name text COLLATE "C",
        provider text COLLATE "C",
        method text NOT NULL,
        path text NOT NULL,
        model text COLLATE "C",
        stream boolean NOT NULL,
        status integer NOT NULL,
        outcome text NOT NULL,
        input_tokens bigint,
        cached_input_tokens bigint,
        output_tokens bigint,
        total_tokens bigint,
        usage_source text NOT NULL,
        latency_ms double precision NOT NULL,
        ttft_ms double precision,
        attempts json NOT NULL,
        CONSTRAINT usage_records_pkey PRIMARY KEY (at, id)
      ) PARTITION BY RANGE (at);
      CREATE INDEX usage_records_organization_id_at_id_idx ON usage_records (organization_id, at, id);
      CREATE INDEX usage_records_user_id_at_id_idx ON usage_records (user_id, at, id);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE usage_records');
  }
}
