import { Autocomplete, Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { isApiError } from '../api/errors';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { EmptyState } from '../ui/empty-state';
import { ErrorNotice } from '../ui/error-notice';
import { Loaded } from '../ui/loaded';
import { PageHeader } from '../ui/page-header';
import { formatMs, formatNumber } from '../usage/format';
import { Figure } from './figure';
import { listModels } from './proxy-client';
import { RequestCost } from './request-cost';
import { useChat } from './use-chat';
import type { ChatState } from './use-chat';

const NO_UPSTREAM = 503;

/** Sends prompts through the proxy, with a key that lives for an hour. */
export function PlaygroundPage(): ReactNode {
  const owner = useOwner();
  const models = useQuery({
    queryKey: ['models', owner.id],
    queryFn: () => listModels(owner.id),
    retry: false,
  });
  return (
    <>
      <PageHeader
        title="Playground"
        text="Sends a prompt to a model, with a key that is minted for one hour."
      />
      {isApiError(models.error, NO_UPSTREAM) ? (
        <NoUpstream />
      ) : (
        <Loaded query={models}>{(list) => <Playground owner={owner.id} models={list} />}</Loaded>
      )}
    </>
  );
}

function NoUpstream(): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  return (
    <EmptyState
      icon={IconPlayerPlay}
      title="No upstream yet"
      text={
        isAdmin
          ? 'Add the API of a provider first. Then try a model here.'
          : 'An admin of the team has to add one first.'
      }
    >
      {isAdmin && (
        <Button
          renderRoot={(props) => (
            <Link
              to="/o/$owner/upstreams"
              params={{ owner: String(owner.id) }}
              search={{ add: 'true' }}
              {...props}
            />
          )}
        >
          Add an upstream
        </Button>
      )}
    </EmptyState>
  );
}

function Playground({ owner, models }: { owner: number; models: readonly string[] }): ReactNode {
  const [model, setModel] = useState(models[0] ?? '');
  const [prompt, setPrompt] = useState('');
  const { state, send, stop } = useChat(owner);
  const isReady = model.trim() !== '' && prompt.trim() !== '';
  return (
    <Stack>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) send(model.trim(), prompt);
        }}
      >
        <Stack>
          <Autocomplete label="Model" data={[...models]} value={model} limit={50} onChange={setModel} />
          <Textarea
            label="Prompt"
            placeholder="Write a prompt"
            autosize
            minRows={4}
            maxRows={16}
            value={prompt}
            onChange={(event) => setPrompt(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            {state.isRunning && (
              <Button variant="default" leftSection={<IconPlayerStop size={16} aria-hidden />} onClick={stop}>
                Stop
              </Button>
            )}
            <Button
              type="submit"
              disabled={!isReady || state.isRunning}
              leftSection={<IconPlayerPlay size={16} aria-hidden />}
            >
              Send
            </Button>
          </Group>
        </Stack>
      </form>
      <Response state={state} />
    </Stack>
  );
}

function Response({ state }: { state: ChatState }): ReactNode {
  const { isRunning, text, totalMs, error } = state;
  if (!isRunning && totalMs === undefined) return null;
  return (
    <>
      {error !== undefined && <ErrorNotice error={error} />}
      <Paper withBorder radius="lg" p="md" component="section" aria-label="Response" aria-busy={isRunning}>
        <Text className="response">{text || (isRunning ? 'Waiting for the model…' : 'No text')}</Text>
        <Figures state={state} />
      </Paper>
    </>
  );
}

function Figures({
  state: { isRunning, firstTokenMs, totalMs, usage, requestId },
}: {
  state: ChatState;
}): ReactNode {
  return (
    <Group gap="lg" mt="md">
      <Figure label="First token" value={formatMs(firstTokenMs ?? null)} />
      <Figure label="Total" value={formatMs(totalMs ?? null)} />
      <Figure label="Input tokens" value={formatNumber(usage?.input ?? null)} />
      <Figure label="Output tokens" value={formatNumber(usage?.output ?? null)} />
      {!isRunning && requestId !== undefined && <RequestCost requestId={requestId} />}
    </Group>
  );
}
