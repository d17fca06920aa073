import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import { withTimeout } from '../../common/async/with-timeout.js';
import { Settings } from '../../config/settings.js';
import { classifyAddress } from './address-kind.js';
import { HostResolver } from '../name-resolution/host-resolver.js';

/** Time for a name to resolve when an upstream is saved. A slower name counts as unresolvable. */
const CHECK_TIMEOUT_MS = 2_000;

/** Names that always resolve to the loopback interface (RFC 6761, section 6.3). */
const LOCALHOST = /(?:^|\.)localhost\.?$/i;

/** The address of an upstream is not allowed. The message is meant for users and contains no address. */
export class AddressRejected extends Error {
  readonly code = 'ERR_ADDRESS_REJECTED';

  constructor(kind: 'private' | 'forbidden') {
    super(
      kind === 'private'
        ? 'the host is in a private network, which this service does not allow for upstreams'
        : 'the host has an address that no upstream may have',
    );
  }
}

/**
 * Prevents upstreams in the network of the service (SSRF). Rejects a host if any of its addresses is not allowed. Hosts
 * are checked when an upstream is saved and again for every connection, which uses only the checked addresses.
 */
@Injectable()
export class AddressGuard {
  constructor(
    private readonly settings: Settings,
    private readonly resolver: HostResolver,
  ) {}

  /** @throws AddressRejected */
  assertAllowed(address: string): void {
    const kind = classifyAddress(address);
    if (kind === 'public') return;
    if (kind === 'private' && this.settings.upstreamPrivateNetworks === 'allow') return;
    throw new AddressRejected(kind);
  }

  /**
   * Checks the host of an upstream that is saved. A name that does not resolve is accepted. Cached failures are ignored,
   * because an administrator may have corrected the name.
   * @param hostname host of a URL, with IPv6 addresses in brackets
   * @throws AddressRejected
   */
  async assertHostAllowed(
    hostname: string,
    organizationId: number,
    timeoutMs = CHECK_TIMEOUT_MS,
  ): Promise<void> {
    const resolving = this.resolve(hostname, { organizationId, fresh: true });
    const addresses = await withTimeout(timeoutMs, resolving).catch(() => []);
    for (const { address } of addresses) this.assertAllowed(address);
  }

  /**
   * Creates the `lookup` function for `net.connect`, `tls.connect` and undici's connector. Node does not call the
   * function for a host that is an address: see {@link guardedConnector}.
   */
  lookupFor(options: LookupOptions): LookupFunction {
    return (hostname, { all, family }, callback) => {
      this.checkedAddresses(hostname, family, options).then(
        (addresses) => {
          if (all) callback(null, addresses);
          else callback(null, addresses[0]!.address, addresses[0]!.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, []),
      );
    };
  }

  /** Resolves a host to at least one address. @throws AddressRejected if any address of any family is not allowed */
  private async checkedAddresses(
    hostname: string,
    family: number | 'IPv4' | 'IPv6' | undefined,
    options: LookupOptions,
  ): Promise<LookupAddress[]> {
    const addresses = await this.resolve(hostname, options);
    for (const { address } of addresses) this.assertAllowed(address);
    const wanted = Number(String(family ?? 0).replace('IPv', ''));
    const usable = addresses.filter((address) => wanted === 0 || address.family === wanted);
    if (usable.length > 0) return usable;
    throw Object.assign(new Error(`the host has no address: ${hostname}`), { code: 'ENOTFOUND' });
  }

  private async resolve(
    hostname: string,
    { organizationId, fresh }: LookupOptions,
  ): Promise<LookupAddress[]> {
    const bare = hostname.replace(/^\[|\]$/g, '');
    const family = isIP(bare);
    if (family !== 0) return [{ address: bare, family }];
    return this.resolver.resolve(LOCALHOST.test(bare) ? 'localhost' : bare, organizationId, { fresh });
  }
}

/** Options of a lookup. */
export interface LookupOptions {
  readonly organizationId: number;
  /** Whether to ignore a cached failure. */
  readonly fresh?: boolean;
}
