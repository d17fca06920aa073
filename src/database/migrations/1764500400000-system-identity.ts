import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The one id by which object storage knows whose bodies it holds. It goes with every dump and every copy. */
export class SystemIdentity1764500400000 implements MigrationInterface {
  readonly name = 'SystemIdentity1764500400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE system_identity (
        is_only boolean DEFAULT true CONSTRAINT system_identity_pkey PRIMARY KEY
          CONSTRAINT system_identity_is_only_check CHECK (is_only),
        id uuid NOT NULL DEFAULT gen_random_uuid()
      );
      INSERT INTO system_identity DEFAULT VALUES;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE system_identity;');
  }
}
