import { readFileSync } from 'node:fs';

/** Three levels up, from the sources as well as from the build. */
const PACKAGE = new URL('../../../package.json', import.meta.url);

/** Version of the service, from `package.json`. The OpenAPI document and the log report it as well. */
export const { version: VERSION } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string };
