import type { Table } from './table.js';

/** State that replicas share: who is alive, whose turn a job is, and which system object storage belongs to. */
export const OPERATION_TABLES: readonly Table[] = [
  {
    name: 'replicas',
    sql: `
      CREATE TABLE replicas (
        id uuid CONSTRAINT replicas_pkey PRIMARY KEY,
        seen_at timestamptz(3) NOT NULL
      );
    `,
  },
  {
    name: 'jobs',
    sql: `
      CREATE TABLE jobs (
        name text CONSTRAINT jobs_pkey PRIMARY KEY,
        begun_at timestamptz(3) NOT NULL
      );
    `,
  },
  {
    /** The one id by which object storage knows whose bodies it holds. Every dump and every copy contains it. */
    name: 'system_identity',
    sql: `
      CREATE TABLE system_identity (
        is_only boolean DEFAULT true CONSTRAINT system_identity_pkey PRIMARY KEY
          CONSTRAINT system_identity_is_only_check CHECK (is_only),
        id uuid NOT NULL DEFAULT gen_random_uuid()
      );
      INSERT INTO system_identity DEFAULT VALUES;
    `,
  },
];
