import { rm } from 'node:fs/promises';

export default async function globalTeardown() {
  await globalThis.testPostgres.stop();
  await rm(globalThis.testDataDir, { recursive: true, force: true });
}
