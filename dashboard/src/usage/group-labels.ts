import type { Schemas } from '../api/client';
import type { Group } from './view';

type UsageGroup = Schemas['UsageGroup'];

/** Value that a group is told apart by. Names of keys and upstreams are not unique. */
export function groupId(group: UsageGroup, by: Group): string {
  const ids: Record<Group, string | number | null | undefined> = {
    model: group.model,
    provider: group.provider,
    upstream: group.upstream_id,
    key: group.key_id,
    user: group.user_id,
  };
  return String(ids[by] ?? '');
}

/** Labels of groups by their ids. A name that several groups have is followed by the holder, and if needed by the id. */
export function groupLabels(groups: readonly UsageGroup[], by: Group): Map<string, string> {
  const byId = new Map(groups.map((group) => [groupId(group, by), group]));
  const candidates = [
    (group: UsageGroup) => groupName(group, by),
    (group: UsageGroup) => withDetail(groupName(group, by), by === 'key' ? group.user_email : null),
  ];
  const counts = candidates.map((describe) => countBy([...byId.values()].map(describe)));
  const labelOf = (group: UsageGroup): string => {
    const unique = candidates.find((describe, index) => counts[index]!.get(describe(group)) === 1);
    return unique?.(group) ?? withDetail(candidates.at(-1)!(group), `${by} ${groupId(group, by)}`);
  };
  return new Map([...byId].map(([id, group]) => [id, labelOf(group)]));
}

/** Name of a group, such as the model or the address of a member. Empty names are replaced, too. */
function groupName(group: UsageGroup, by: Group): string {
  const names: Record<Group, string | null | undefined> = {
    model: group.model,
    provider: group.provider,
    upstream: group.upstream_name,
    key: group.key_name,
    user: group.user_email,
  };
  const fallbacks: Partial<Record<Group, string | undefined>> = {
    key: group.key_id === undefined ? undefined : `key ${group.key_id}`,
    user: group.user_id,
  };
  return [names[by], fallbacks[by]].find(Boolean) ?? 'none';
}

function withDetail(name: string, detail: string | null | undefined): string {
  return detail ? `${name} (${detail})` : name;
}

function countBy(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
