import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The trail of an organization is in one piece, and no index is left that leads past everybody else's events. */
export class AuditEventOrder1764500000000 implements MigrationInterface {
  readonly name = 'AuditEventOrder1764500000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE audit_events DROP CONSTRAINT audit_events_pkey;
      DROP INDEX audit_events_organization_id_id_idx;
      ALTER TABLE audit_events ADD CONSTRAINT audit_events_pkey PRIMARY KEY (organization_id, id);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE audit_events DROP CONSTRAINT audit_events_pkey;
      ALTER TABLE audit_events ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);
      CREATE INDEX audit_events_organization_id_id_idx ON audit_events (organization_id, id);
    `);
  }
}
