import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Scheduled jobs: which replica's turn it is. */
export class Jobs1764200000000 implements MigrationInterface {
  readonly name = 'Jobs1764200000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE jobs (
        name text CONSTRAINT jobs_pkey PRIMARY KEY,
        begun_at timestamptz(3) NOT NULL
      );
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE jobs;');
  }
}
