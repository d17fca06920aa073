import type { AuditEvent } from './queries';

type Describe = (target: string, details: AuditEvent['details']) => string;

const TEXTS: Record<AuditEvent['action'], Describe> = {
  'organization.created': () => 'Created the team',
  'organization.renamed': (_, { from, to }) => `Renamed the team from “${String(from)}” to “${String(to)}”`,
  'member.joined': (target) => `${target} joined`,
  'member.removed': (target) => `Removed ${target}`,
  'member.left': (target) => `${target} left`,
  'member.role_changed': (target, { from, to }) =>
    `Changed the role of ${target} from ${String(from)} to ${String(to)}`,
  'invitation.created': (target) => `Invited ${target}`,
  'invitation.resent': (target) => `Renewed the invitation of ${target}`,
  'invitation.cancelled': (target) => `Cancelled the invitation of ${target}`,
  'invitation.declined': (target) => `${target} declined the invitation`,
  'key.minted': (target) => `Minted the key ${target}`,
  'key.renamed': (target) => `Renamed the key ${target}`,
  'key.revoked': (target) => `Revoked the key ${target}`,
  'upstream.created': (target) => `Added the upstream ${target}`,
  'upstream.updated': (target) => `Changed the upstream ${target}`,
  'upstream.deleted': (target) => `Deleted the upstream ${target}`,
  'limits.changed': (target, { level }) =>
    level === 'key'
      ? `Changed the limits of the key ${target}`
      : `Changed the limits of the ${String(level)} level`,
  'prices.changed': () => 'Changed the own prices',
  'budget.reached': (_, { share }) => `The budget reached ${String(share)} %`,
};

/** Describes an event in a sentence. Actions that this version does not know are shown as they are. */
export function describeEvent({ action, target, details }: AuditEvent): string {
  const describe = TEXTS[action] as Describe | undefined;
  const name = target.email ?? target.name ?? target.slug ?? target.id ?? '';
  return describe ? describe(String(name), details).trim() : `${action} ${name}`;
}
