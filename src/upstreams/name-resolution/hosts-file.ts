import type { LookupAddress } from 'node:dns';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

const PATH =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32\\drivers\\etc\\hosts')
    : '/etc/hosts';

/** Reads the system's hosts file: `localhost`, `extra_hosts` of containers and names that the operator overrides. */
export class HostsFile {
  private version = '';
  private readonly addresses = new Map<string, LookupAddress[]>();

  constructor(private readonly path = PATH) {}

  /** Finds the addresses of a name; none if the file lacks the name. Changes of the file take effect at once. */
  find(hostname: string): LookupAddress[] {
    try {
      const { mtimeMs, size, ino } = statSync(this.path);
      const version = `${mtimeMs} ${size} ${ino}`;
      if (version !== this.version) this.read();
      this.version = version;
    } catch {
      this.addresses.clear(); // a missing file has no names
      this.version = '';
    }
    return this.addresses.get(hostname.replace(/\.$/, '').toLowerCase()) ?? [];
  }

  private read(): void {
    const text = readFileSync(this.path, 'utf8');
    this.addresses.clear();
    for (const line of text.split('\n')) {
      const [address = '', ...names] = line.split('#', 1)[0]!.trim().split(/\s+/);
      const family = address.includes('%') ? 0 : isIP(address); // the address of one interface cannot be connected to
      if (family !== 0) for (const name of names) this.add(name.toLowerCase(), { address, family });
    }
  }

  private add(name: string, address: LookupAddress): void {
    const known = this.addresses.get(name);
    if (known) known.push(address);
    else this.addresses.set(name, [address]);
  }
}
