import { CloseButton, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useEffect, useRef, useState } from 'react';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Time after the last key press at which the URL changes. The list itself follows at once. */
const URL_DELAY_MS = 150;

/** Filter above a list. The value is part of the URL, which browsers allow to change only so often. */
export function FilterInput({ label, value, onChange }: Props): ReactNode {
  const [text, setText] = useState(value);
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const change = (next: string) => {
    setText(next);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => onChange(next), URL_DELAY_MS);
  };
  return (
    <TextInput
      type="search"
      mb="sm"
      aria-label={label}
      placeholder={label}
      value={text}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={text !== '' && <CloseButton size="sm" aria-label="Clear" onClick={() => change('')} />}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
