import { CloseButton, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Filter above a list. */
export function FilterInput({ label, value, onChange }: Props): ReactNode {
  return (
    <TextInput
      type="search"
      mb="sm"
      aria-label={label}
      placeholder={label}
      value={value}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={value !== '' && <CloseButton size="sm" aria-label="Clear" onClick={() => onChange('')} />}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
