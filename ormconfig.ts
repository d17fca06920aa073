import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from './src/database/connection/data-source.js';

/**
 * The data source of TypeORM's command line, for work on the schema:
 * `DATABASE_URL=... npm run typeorm -- migration:generate src/database/migrations/<name>`.
 * The service itself migrates when it starts.
 */
export default new DataSource({
  ...dataSourceOptions(process.env.DATABASE_URL ?? 'postgres://localhost/mintkeep'),
  entities: ['src/**/*.entity.ts'],
});
