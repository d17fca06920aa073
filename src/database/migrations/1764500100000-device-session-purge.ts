import type { MigrationInterface, QueryRunner } from 'typeorm';

/** All device sessions are purged, also those that were denied. */
export class DeviceSessionPurge1764500100000 implements MigrationInterface {
  readonly name = 'DeviceSessionPurge1764500100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX device_sessions_expires_at_idx;
      CREATE INDEX device_sessions_expires_at_idx ON device_sessions (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX device_sessions_expires_at_idx;
      CREATE INDEX device_sessions_expires_at_idx ON device_sessions (expires_at) WHERE user_code_hmac IS NOT NULL;
    `);
  }
}
