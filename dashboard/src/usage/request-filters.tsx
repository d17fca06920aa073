import { Group, NativeSelect, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { filterOptions } from './filter-options';
import { usageQuery } from './queries';
import { FILTERS } from './view';
import type { Filter, UsageView } from './view';

const LABELS: Record<Filter, readonly [label: string, all: string]> = {
  model: ['Model', 'All models'],
  upstream: ['Upstream', 'All upstreams'],
  key: ['Key', 'All keys'],
  user: ['Member', 'All members'],
};

interface Props {
  readonly view: UsageView;
  /** Changes parameters of the URL; undefined removes one. */
  readonly onChange: (part: Record<string, string | undefined>) => void;
}

/** Filters that the service applies. */
export function RequestFilters({ view, onChange }: Props): ReactNode {
  const owner = useOwner();
  const shown = FILTERS.filter((name) => name !== 'user' || owner.kind === 'team');
  return (
    <Group mb="md" gap="sm" role="group" aria-label="Filters">
      {shown.map((name) => (
        <FilterSelect key={name} name={name} view={view} onChange={onChange} />
      ))}
      <Switch
        label="Only errors"
        checked={view.onlyErrors}
        onChange={(event) => onChange({ errors: event.currentTarget.checked ? 'true' : undefined })}
      />
    </Group>
  );
}

/** Offers the values that occur in the range. */
function FilterSelect({ name, view, onChange }: Props & { name: Filter }): ReactNode {
  const owner = useOwner();
  const { data } = useQuery(usageQuery(owner.id, { range: view.range, group: name }));
  const [label, all] = LABELS[name];
  const value = view.filters[name] ?? '';
  return (
    <NativeSelect
      size="xs"
      maw={200}
      aria-label={label}
      data={[{ value: '', label: all }, ...filterOptions(data, name, value)]}
      value={value}
      onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
    />
  );
}
