import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Room on every page of keys for the next version of a row: the time of last use, which is written once a minute,
 * then leaves the indexes alone.
 */
export class KeyUseRoom1764500300000 implements MigrationInterface {
  readonly name = 'KeyUseRoom1764500300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE proxy_keys SET (fillfactor = 80);');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE proxy_keys RESET (fillfactor);');
  }
}
