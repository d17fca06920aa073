import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { NotFound } from '../common/api/domain-error.js';
import { tokenHash } from '../common/crypto/secret-token.js';
import { OrganizationNotFound } from '../organizations/model/organizations.errors.js';
import type { OrganizationKind } from '../organizations/model/organization.entity.js';
import { isKeySecret } from './key-format.js';
import { KeysService } from './keys.service.js';
import { ProxyKey } from './proxy-key.entity.js';
import type { KeySource } from './proxy-key.entity.js';

/** Key that can be used now, with its holder and owner. */
export interface KeyHolding {
  readonly key: Readonly<Record<'name' | 'prefix' | 'last4', string>> & { readonly id: number };
  readonly user: { readonly id: string; readonly email: string };
  readonly organization: {
    readonly id: number;
    readonly name: string;
    readonly kind: OrganizationKind;
  };
  readonly source: KeySource;
  /** ISO 8601, like {@link expiresAt}. */
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** Finds a key only while the proxy serves it: it is live, and its holder is a member of its owner. */
const FIND = `
  SELECT json_build_object('id', k.id, 'name', k.name, 'prefix', k.prefix, 'last4', k.last4) AS key,
    json_build_object('id', u.id, 'email', u.email) AS "user",
    json_build_object('id', o.id, 'name', o.name, 'kind', o.kind) AS organization,
    k.source, k.created_at AS "createdAt", k.expires_at AS "expiresAt"
  FROM proxy_keys k
    JOIN users u ON u.id = k.user_id
    JOIN organizations o ON o.id = k.organization_id
    JOIN memberships m ON m.organization_id = k.organization_id AND m.user_id = k.user_id
  WHERE k.secret_sha256 = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`;

/** Finds keys that were revoked before, too: another revocation may still wait for the replicas. */
const FIND_HOLDER = `
  SELECT k.id, k.organization_id, u.id AS user_id, u.email
  FROM proxy_keys k JOIN users u ON u.id = k.user_id WHERE k.secret_sha256 = $1`;

interface HolderRow {
  id: number;
  organization_id: number;
  user_id: string;
  email: string;
}

/** Keys as their holders act on them: with the secret alone, without a session. */
@Injectable()
export class KeyHoldings {
  constructor(
    @InjectRepository(ProxyKey) private readonly rows: Repository<ProxyKey>,
    private readonly keys: KeysService,
  ) {}

  /** Finds the key with this secret; undefined unless it can be used now. */
  async find(secret: string): Promise<KeyHolding | undefined> {
    if (!isKeySecret(secret)) return undefined;
    const [holding] = await this.rows.query<KeyHolding[]>(FIND, [tokenHash(secret)]);
    return holding;
  }

  /** Revokes the key with this secret as its holder does. Does nothing if there is none. */
  async revoke(secret: string): Promise<void> {
    if (!isKeySecret(secret)) return;
    const [row] = await this.rows.query<HolderRow[]>(FIND_HOLDER, [tokenHash(secret)]);
    if (!row) return;
    const { id, organization_id: organizationId, user_id: userId, email } = row;
    const holder: SessionUser = { id: userId, email, emailVerified: false };
    try {
      await this.keys.revoke(holder, id, { organizationId, userId });
    } catch (error) {
      // The organization or the user was deleted meanwhile, and the key with it.
      if (!(error instanceof NotFound || error instanceof OrganizationNotFound)) throw error;
    }
  }
}
