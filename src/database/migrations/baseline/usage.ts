import type { Table } from './table.js';

/** Usage of the proxy. No foreign keys: records outlive key, upstream, member and organization. */
export const USAGE_TABLES: readonly Table[] = [
  {
    /** Partitioned by month; the service creates partitions in advance. */
    name: 'usage_records',
    sql: `
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
        CONSTRAINT usage_records_pkey PRIMARY KEY (organization_id, at, id)
      ) PARTITION BY RANGE (at);
      CREATE INDEX usage_records_user_id_at_id_idx ON usage_records (user_id, at, id);
    `,
  },
  {
    /**
     * Sums by hour, day and month, which stay when records are dropped. The fill factor leaves room to update a row
     * in place: current rows change several times a second.
     */
    name: 'usage_rollups',
    sql: `
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
      ) WITH (fillfactor = 70);
      CREATE INDEX usage_rollups_user_id_granularity_start_idx ON usage_rollups (user_id, granularity, start);
    `,
  },
];
