import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import { within } from '../common/within.js';
import { Settings } from '../config/settings.js';
import { kindOf } from './address-kind.js';
import { HostResolver } from './host-resolver.js';

/** How long a name may take to resolve when it is saved; one that takes longer counts as not resolving. */
const CHECK_TIMEOUT_MS = 2_000;

/** Names that never leave the machine, whatever a name server says (RFC 6761, 6.3). */
const LOCALHOST = /(?:^|\.)localhost\.?$/i;

/** An address that no upstream may have. The message is fit for people and names no address. */
export class AddressRefused extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';

  constructor(kind: 'private' | 'forbidden') {
    super(
      kind === 'private'
        ? 'the host is in a private network, which is not allowed for upstreams here'
        : 'the host has an address that no upstream may have',
    );
  }
}

/**
 * Keeps upstreams from reaching into the network that the service stands in. A host is refused when any of its
 * addresses is: when it is saved, and again on every connection, where the addresses that were checked are the
 * ones that are dialled.
 */
@Injectable()
export class AddressGuard {
  constructor(
    private readonly settings: Settings,
    private readonly resolver: HostResolver,
  ) {}

  /** @throws AddressRefused */
  assertAllowed(address: string): void {
    const kind = kindOf(address);
    if (kind === 'public') return;
    if (kind === 'private' && this.settings.upstreamPrivateNetworks === 'allow') return;
    throw new AddressRefused(kind);
  }

  /**
   * For saving. A name that does not resolve at the moment may be saved.
   * @param hostname as in a URL, IPv6 addresses in brackets
   * @throws AddressRefused
   */
  async assertHostAllowed(hostname: string, timeoutMs = CHECK_TIMEOUT_MS): Promise<void> {
    const addresses = await within(timeoutMs, this.resolve(hostname)).catch(() => []);
    for (const { address } of addresses) this.assertAllowed(address);
  }

  /**
   * For connections: the `lookup` of `net.connect`, `tls.connect` and undici's connector. Node does not call it
   * for a host that is an address already: see {@link guardedConnector}.
   */
  readonly lookup: LookupFunction = (hostname, { all, family }, callback) => {
    this.checkedAddresses(hostname, family).then(
      (addresses) => {
        if (all) callback(null, addresses);
        else callback(null, addresses[0]!.address, addresses[0]!.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

  /** At least one. @throws AddressRefused when any of the host's is, also one of another family */
  private async checkedAddresses(
    hostname: string,
    family: number | 'IPv4' | 'IPv6' | undefined,
  ): Promise<LookupAddress[]> {
    const addresses = await this.resolve(hostname);
    for (const { address } of addresses) this.assertAllowed(address);
    const wanted = Number(String(family ?? 0).replace('IPv', ''));
    const usable = addresses.filter((address) => wanted === 0 || address.family === wanted);
    if (usable.length > 0) return usable;
    throw Object.assign(new Error(`the host has no address: ${hostname}`), { code: 'ENOTFOUND' });
  }

  private async resolve(hostname: string): Promise<LookupAddress[]> {
    const bare = hostname.replace(/^\[|\]$/g, '');
    const family = isIP(bare);
    if (family !== 0) return [{ address: bare, family }];
    return this.resolver.resolve(LOCALHOST.test(bare) ? 'localhost' : bare);
  }
}
