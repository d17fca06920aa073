import type { MigrationInterface, QueryRunner } from 'typeorm';
import { DEVICE_TABLES } from './baseline/device-sessions.js';
import { DOCUMENT_TABLES } from './baseline/documents.js';
import { INVITATION_TABLES } from './baseline/invitations.js';
import { OPERATION_TABLES } from './baseline/operations.js';
import { ORGANIZATION_TABLES } from './baseline/organizations.js';
import { PROXY_TABLES } from './baseline/proxy.js';
import { USAGE_TABLES } from './baseline/usage.js';

/** Each table after those that it references. */
const TABLES = [
  ...ORGANIZATION_TABLES,
  ...INVITATION_TABLES,
  ...DOCUMENT_TABLES,
  ...PROXY_TABLES,
  ...DEVICE_TABLES,
  ...USAGE_TABLES,
  ...OPERATION_TABLES,
];

/** Concatenates the histograms of rollups. */
const CREATE_HISTOGRAM_AGGREGATE =
  'CREATE AGGREGATE usage_histogram_agg (bigint[]) (SFUNC = array_cat, STYPE = bigint[])';

/** The whole schema of version 0.2. Databases of earlier versions are rejected. */
export class Baseline1764600000000 implements MigrationInterface {
  readonly name = 'Baseline1764600000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const { sql } of TABLES) await queryRunner.query(sql);
    await queryRunner.query(CREATE_HISTOGRAM_AGGREGATE);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP AGGREGATE usage_histogram_agg (bigint[])');
    for (const { name } of TABLES.toReversed()) await queryRunner.query(`DROP TABLE ${name}`);
  }
}
