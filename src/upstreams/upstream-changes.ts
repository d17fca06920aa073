import type { AuditDetails } from '../organizations/audit/audit-event.entity.js';
import type { UpdateUpstreamDto } from './dto/upstream.requests.js';
import { providerOf } from './provider.js';
import type { Upstream } from './upstream.entity.js';

type Visible = Pick<Upstream, 'name' | 'baseUrl' | 'provider' | 'priority' | 'enabled'>;
type Updatable = Visible & Pick<Upstream, 'providerChosen'>;

/**
 * Applies an update to an upstream, except for its API key. Members that are undefined keep their values. A provider
 * that no request sent is derived from the host.
 * @param baseUrl normalized new base URL
 */
export function applyUpdate(
  before: Updatable,
  { name = before.name, priority = before.priority, enabled = before.enabled, provider }: UpdateUpstreamDto,
  baseUrl = before.baseUrl,
): Updatable {
  const isDerived = isDerivedFromHost(before);
  const fallback = isDerived ? providerOf(baseUrl) : before.provider;
  const providerChosen = !isDerived || provider !== undefined;
  return { name, baseUrl, provider: provider ?? fallback, providerChosen, priority, enabled };
}

/** Whether the provider follows the host. A provider that differs from the host counts as chosen. */
function isDerivedFromHost({ provider, providerChosen, baseUrl }: Updatable): boolean {
  return !providerChosen && provider === providerOf(baseUrl);
}

/** Returns the members of an upstream that the audit trail records. */
export function auditDetails({ name, baseUrl, provider, priority, enabled }: Visible): AuditDetails {
  return { name, base_url: baseUrl, provider, priority, enabled };
}

/** Returns the changed members with their new values. A new API key appears only as `changed`. */
export function auditChanges(before: Visible, after: Visible, newApiKey: boolean): AuditDetails {
  const old = auditDetails(before);
  const changes = Object.entries(auditDetails(after)).filter(([member, value]) => value !== old[member]);
  return { ...Object.fromEntries(changes), ...(newApiKey ? { api_key: 'changed' } : {}) };
}
