import { readFileSync, writeFileSync } from 'node:fs';

/** File with the entries. Without it, the keyring is locked. */
const FILE = process.env.FAKE_KEYRING;
/** Whether entries are lost at once, as with a session that is not saved. */
const isForgetful = process.env.FAKE_KEYRING_FORGETS === '1';

/** `AsyncEntry` of the package for the keyring, as far as the client uses it. */
export class AsyncEntry {
  #name;

  constructor(service, user, options) {
    this.#name = [service, user, options?.linux?.store].join(' ');
  }

  async setPassword(password) {
    this.#change((entries) => ({ ...entries, [this.#name]: isForgetful ? '' : password }));
  }

  async getPassword() {
    return read()[this.#name] ?? null;
  }

  async deletePassword() {
    this.#change((entries) => ({ ...entries, [this.#name]: undefined }));
  }

  #change(change) {
    writeFileSync(FILE, JSON.stringify(change(read())));
  }
}

function read() {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}
