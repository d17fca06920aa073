import type { Schemas } from '../api/client';
import { groupName } from './series';
import type { Filter } from './view';

type Usage = Pick<Schemas['Usage'], 'buckets' | 'bucket'>;

/** Entry of a select. */
interface Option {
  readonly value: string;
  readonly label: string;
}

/**
 * Values of a filter that occur in the usage, by label.
 * @param current value that is offered in any case, because the URL has it
 */
export function filterOptions(usage: Usage | undefined, filter: Filter, current: string): Option[] {
  const labels = new Map<string, string>();
  for (const group of usage?.buckets.flatMap(({ groups }) => groups) ?? []) {
    const ids = {
      ...{ model: group.model, upstream: group.upstream_id },
      ...{ key: group.key_id, user: group.user_id },
    };
    const id = ids[filter];
    if (id !== null && id !== undefined && id !== '') labels.set(String(id), groupName(group, filter));
  }
  if (current !== '' && !labels.has(current)) labels.set(current, current);
  return [...labels]
    .map(([value, label]) => ({ value, label }))
    .toSorted((a, b) => a.label.localeCompare(b.label));
}
