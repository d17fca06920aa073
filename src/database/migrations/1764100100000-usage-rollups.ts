import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sums of records by hour, day and month. They stay when records are dropped. */
export class UsageRollups1764100100000 implements MigrationInterface {
  readonly name = 'UsageRollups1764100100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE usage_rollups (
        granularity text COLLATE "C" NOT NULL
          CONSTRAINT usage_rollups_granularity_check CHECK (granularity IN ('hour', 'day', 'month')),
        start timestamptz(3) NOT NULL,
        organization_id bigint NOT NULL,
        user_id text COLLATE "C" NOT NULL,
        key_id bigint NOT NULL,
        upstream_id bigint,
        upstream_name text COLLATE "C",
        provider text COLLATE "C",
        model text COLLATE "C",
        status integer NOT NULL,
        last_at timestamptz(3) NOT NULL,
        requests bigint NOT NULL,
        errors bigint NOT NULL,
        input_tokens bigint,
        cached_input_tokens bigint,
        output_tokens bigint,
        total_tokens bigint,
        latency_ms double precision NOT NULL,
        ttft_ms double precision,
        ttft_requests bigint NOT NULL,
        histogram bigint[] NOT NULL,
        CONSTRAINT usage_rollups_key UNIQUE NULLS NOT DISTINCT (organization_id, granularity, start, user_id, key_id,
          upstream_id, upstream_name, provider, model, status)
      ) WITH (fillfactor = 70); -- room to update a row where it is: the current ones are, several times a second
      CREATE INDEX usage_rollups_user_id_granularity_start_idx ON usage_rollups (user_id, granularity, start);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE usage_rollups');
  }
}
