import { ADDRESSES } from './addresses.js';
import type { Declaration } from './declaration.js';
import { MAIL } from './mail.js';
import { OPERATION } from './operation.js';
import { REQUESTS } from './requests.js';
import { SESSIONS } from './sessions.js';
import { STORAGE } from './storage.js';
import { UPSTREAMS } from './upstreams.js';

/** All settings by name. A new setting is one entry here, one member of `Settings` and one line of a parser. */
export const DECLARATIONS = {
  ...ADDRESSES,
  ...STORAGE,
  ...SESSIONS,
  ...MAIL,
  ...OPERATION,
  ...REQUESTS,
  ...UPSTREAMS,
};

/** Sections of the documentation, in order. */
export const DECLARATION_GROUPS: readonly (readonly [
  title: string,
  Readonly<Record<string, Declaration>>,
])[] = [
  ['Addresses', ADDRESSES],
  ['Storage and secrets', STORAGE],
  ['Sessions', SESSIONS],
  ['Mail', MAIL],
  ['Operation', OPERATION],
  ['Requests', REQUESTS],
  ['Upstreams', UPSTREAMS],
];
