import { isDeepStrictEqual } from 'node:util';
import type { AuditDetails } from '../organizations/audit/audit-event.entity.js';
import type { UpdateUpstreamDto } from './dto/upstream.requests.js';
import { providerOf } from './provider.js';
import type { Upstream } from './upstream.entity.js';

type Visible = Pick<
  Upstream,
  'name' | 'baseUrl' | 'provider' | 'priority' | 'enabled' | 'models' | 'failoverOn'
>;
type Updatable = Visible & Pick<Upstream, 'providerChosen'>;

/**
 * Applies an update to an upstream, except for its API key. Members that are undefined keep their values. A provider
 * that no request sent is derived from the host.
 * @param baseUrl normalized new base URL
 */
export function applyUpdate(
  before: Updatable,
  changes: UpdateUpstreamDto,
  baseUrl = before.baseUrl,
): Updatable {
  const { name = before.name, priority = before.priority, enabled = before.enabled, provider } = changes;
  const { models = before.models, failover_on: failoverOn = before.failoverOn } = changes;
  const isDerived = isDerivedFromHost(before);
  const fallback = isDerived ? providerOf(baseUrl) : before.provider;
  const providerChosen = !isDerived || provider !== undefined;
  const serves = { models, failoverOn };
  return { name, baseUrl, provider: provider ?? fallback, providerChosen, priority, enabled, ...serves };
}

/** Whether the provider follows the host. A provider that differs from the host counts as chosen. */
function isDerivedFromHost({ provider, providerChosen, baseUrl }: Updatable): boolean {
  return !providerChosen && provider === providerOf(baseUrl);
}

/** Returns the members of a new upstream that the audit trail records. Rules are counted: they may have 1 MiB. */
export function auditDetails(upstream: Visible): AuditDetails {
  const { models, failoverOn } = upstream;
  return {
    ...scalars(upstream),
    ...(models && { models: `${models.length} rules` }),
    ...(failoverOn.length > 0 && { failover_on: failoverOn }),
  };
}

/** Returns the changed members with their new values. A new API key and new rules appear only as `changed`. */
export function auditChanges(before: Visible, after: Visible, newApiKey: boolean): AuditDetails {
  const old = scalars(before);
  const changes = Object.entries(scalars(after)).filter(([member, value]) => value !== old[member]);
  return {
    ...Object.fromEntries(changes),
    ...(!isDeepStrictEqual(before.models, after.models) && { models: 'changed' }),
    ...(!isDeepStrictEqual(before.failoverOn, after.failoverOn) && { failover_on: after.failoverOn }),
    ...(newApiKey && { api_key: 'changed' }),
  };
}

function scalars({ name, baseUrl, provider, priority, enabled }: Visible): AuditDetails {
  return { name, base_url: baseUrl, provider, priority, enabled };
}
