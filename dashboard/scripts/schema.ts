import openapiTS, { astToString } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';

export const SCHEMA_PATH = new URL('../src/api/schema.d.ts', import.meta.url);

const HEADER = '/* Generated from the OpenAPI document of the service by `npm run api:generate`. */\n';
/** Members with texts for people, which have no effect on types. */
const TEXTS = ['description', 'summary', 'example', 'examples'];
/** Routes that the dashboard may use. */
const USED_PATHS = /^\/(me|dev|auth\/session)(\/|$)/;

/** Generates the types of the dashboard's routes from an OpenAPI document, as JSON text. */
export async function generateSchema(text: string): Promise<string> {
  const document = JSON.parse(text, withoutTexts) as OpenAPI3;
  const paths = Object.entries(document.paths ?? {}).filter(([path]) => USED_PATHS.test(path));
  return HEADER + astToString(await openapiTS({ ...document, paths: Object.fromEntries(paths) }));
}

/** Removes texts for people, but not the properties of the same names, whose values are schemas. */
function withoutTexts(key: string, value: unknown): unknown {
  const isText = TEXTS.includes(key) && (key !== 'description' || typeof value === 'string');
  return isText ? undefined : value;
}
