import { readFile } from 'node:fs/promises';
import { generateSchema, SCHEMA_PATH } from '../../dashboard/scripts/schema.js';
import { startApp } from '../support/app.js';

it('has the types of the current OpenAPI document (npm run api:generate)', async () => {
  const app = await startApp({ SESSION_JWT_SECRET: '' });
  try {
    const { text } = await app.anonymous.get('/openapi.json').expect(200);
    expect(await readFile(SCHEMA_PATH, 'utf8')).toBe(await generateSchema(text));
  } finally {
    await app.close();
  }
});
