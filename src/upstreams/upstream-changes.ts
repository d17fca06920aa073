import type { AuditDetails } from '../organizations/audit-event.entity.js';
import type { UpdateUpstreamDto } from './dto/upstream.requests.js';
import { providerOf } from './provider.js';
import type { Upstream } from './upstream.entity.js';

type Visible = Pick<Upstream, 'name' | 'baseUrl' | 'provider' | 'priority' | 'enabled'>;
type Updatable = Visible & Pick<Upstream, 'providerChosen'>;

/**
 * What an upstream is after an update, its API key aside. Members that are undefined stay as they are; a provider
 * that was never given follows the host.
 * @param baseUrl the new one, normalised
 */
export function updated(
  before: Updatable,
  { name = before.name, priority = before.priority, enabled = before.enabled, provider }: UpdateUpstreamDto,
  baseUrl = before.baseUrl,
): Updatable {
  const told = isToldByHost(before);
  const otherwise = told ? providerOf(baseUrl) : before.provider;
  const providerChosen = !told || provider !== undefined;
  return { name, baseUrl, provider: provider ?? otherwise, providerChosen, priority, enabled };
}

/** One that is not what the host tells was chosen, too: before it was noted which are. */
function isToldByHost({ provider, providerChosen, baseUrl }: Updatable): boolean {
  return !providerChosen && provider === providerOf(baseUrl);
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
