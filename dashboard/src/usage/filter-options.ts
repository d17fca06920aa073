import type { Schemas } from '../api/client';
import { groupLabels } from './group-labels';
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
  const labels = groupLabels(usage?.buckets.flatMap(({ groups }) => groups) ?? [], filter);
  labels.delete('');
  if (current !== '' && !labels.has(current)) labels.set(current, current);
  return [...labels]
    .map(([value, label]) => ({ value, label }))
    .toSorted((a, b) => a.label.localeCompare(b.label));
}
