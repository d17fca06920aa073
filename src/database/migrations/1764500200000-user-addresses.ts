import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Users are found by their address. Not unique: it is the identity provider who says whose it is. */
export class UserAddresses1764500200000 implements MigrationInterface {
  readonly name = 'UserAddresses1764500200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX users_email_key_idx ON users (email_key);');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX users_email_key_idx;');
  }
}
