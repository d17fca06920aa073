import { ActionIcon, CopyButton, TextInput, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** Text that is meant to be copied. */
export function CopyField({ label, value }: { label: string; value: string }): ReactNode {
  return (
    <TextInput
      readOnly
      label={label}
      value={value}
      classNames={{ input: 'mono' }}
      onFocus={(event) => event.currentTarget.select()}
      rightSection={<CopyIcon value={value} label={`Copy ${label.toLowerCase()}`} />}
    />
  );
}

/** Button that copies a text, and says so. */
export function CopyIcon({ value, label }: { value: string; label: string }): ReactNode {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : 'Copy'}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'mint' : 'gray'}
            aria-label={copied ? 'Copied' : label}
            onClick={copy}
          >
            {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
