import type { AuditDetails } from '../organizations/audit-event.entity.js';
import type { UpdateUpstreamDto } from './dto/upstream.requests.js';
import { providerOf } from './provider.js';
import type { Upstream } from './upstream.entity.js';

type Visible = Pick<Upstream, 'name' | 'baseUrl' | 'provider' | 'priority' | 'enabled'>;

/**
 * What an upstream is after an update, its API key aside. Members that are undefined stay as they are. A provider
 * that is not given, and is the one that goes with the old base URL, becomes the one that goes with the new
 * base URL: it was told by the host, or might as well have been.
 * @param baseUrl the new one, normalised
 */
export function updated(
  before: Visible,
  { name = before.name, priority = before.priority, enabled = before.enabled, provider }: UpdateUpstreamDto,
  baseUrl = before.baseUrl,
): Visible {
  const told = before.provider === providerOf(before.baseUrl) ? providerOf(baseUrl) : before.provider;
  return { name, baseUrl, provider: provider ?? told, priority, enabled };
}

/** What the audit trail tells of an upstream. */
export function auditDetails({ name, baseUrl, provider, priority, enabled }: Visible): AuditDetails {
  return { name, base_url: baseUrl, provider, priority, enabled };
}

/** The members that are another after an update, with their new values; of the API key only that it is another. */
export function auditChanges(before: Visible, after: Visible, newApiKey: boolean): AuditDetails {
  const old = auditDetails(before);
  const changes = Object.entries(auditDetails(after)).filter(([member, value]) => value !== old[member]);
  return { ...Object.fromEntries(changes), ...(newApiKey ? { api_key: 'changed' } : {}) };
}
