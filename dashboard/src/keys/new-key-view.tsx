import { Alert, Button, Group, Stack, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { configQuery } from '../session/config';
import { CopyField, CopyIcon } from '../ui/forms/copy-field';
import { createSnippets } from './snippets';

/** Secret of a new key, with examples to copy. */
export function NewKeyView({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
  const { data: config } = useQuery(configQuery);
  const url = (config?.public_url ?? window.location.origin).replace(/\/$/, '');
  const snippets = createSnippets(url, secret);
  return (
    <Stack>
      <CopyField label="Key" value={secret} />
      <Alert color="yellow">Copy the key now. It is stored as a hash and cannot be shown again.</Alert>
      <Tabs defaultValue={snippets[0]!.name} variant="pills" keepMounted={false}>
        <Tabs.List mb="xs">
          {snippets.map(({ name }) => (
            <Tabs.Tab key={name} value={name} size="xs">
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ name, code }) => (
          <Tabs.Panel key={name} value={name}>
            <div className="snippet">
              <pre tabIndex={0}>{code}</pre>
              <CopyIcon value={code} label="Copy example" />
            </div>
          </Tabs.Panel>
        ))}
      </Tabs>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
