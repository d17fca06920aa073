import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether somebody chose the provider of an upstream. Of those that are there, nobody knows. */
export class ChosenProviders1764400000000 implements MigrationInterface {
  readonly name = 'ChosenProviders1764400000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE upstreams ADD COLUMN provider_chosen boolean NOT NULL DEFAULT false;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE upstreams DROP COLUMN provider_chosen;');
  }
}
