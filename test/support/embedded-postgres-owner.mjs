import { startEmbeddedPostgres } from '../../dist/embedded-postgres/embedded-postgres.js';

// A process that runs PostgreSQL on the data folder it is given, until it is killed or told to crash.
const { url } = await startEmbeddedPostgres({ dataDir: process.argv[2], settings: { fsync: 'off' } });
process.stdout.write(`${url}\n`);
process.stdin.once('data', () => {
  throw new Error('crash');
});
