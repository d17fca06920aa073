#!/usr/bin/env node
// Committed, because npm links the command of a workspace only if its file exists at `npm ci`.
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('mintkeep: the client is not built; run "npm run build" in the checkout first\n');
  process.exitCode = 1;
}
