import { Anchor, Chip, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { FormButtons } from '../ui/forms/form-buttons';
import { showFormError } from '../ui/forms/form-error';
import { FailoverField } from './failover-field';
import { ModelRulesField } from './model-rules-field';
import { PRESETS } from './presets';
import { createUpstream, updateUpstream } from './queries';
import type { Upstream } from './queries';
import { toUpstreamBody, toUpstreamValues } from './upstream-values';
import type { UpstreamValues } from './upstream-values';

interface Props {
  /** Upstream to change; a new one is created if it is absent. */
  readonly upstream?: Upstream;
  readonly onClose: () => void;
}

const FIELDS = {
  invalid_name: 'name',
  name_taken: 'name',
  invalid_base_url: 'base_url',
  invalid_api_key: 'api_key',
  invalid_models: 'rules',
  invalid_failover_on: 'failover',
};

/** Form for an upstream. Presets fill in the address of known providers. */
export function UpstreamModal({ upstream, onClose }: Props): ReactNode {
  const { id: owner } = useOwner();
  const form = useForm<UpstreamValues>({
    initialValues: toUpstreamValues(upstream),
    validate: {
      name: (name) => (name.trim() === '' ? 'Give the upstream a name.' : null),
      rules: { model: (model, { models }) => checkPattern(model, models) },
    },
  });
  const save = useMutation({
    mutationFn: (values: UpstreamValues) => saveUpstream(owner, upstream, values),
    onSuccess: onClose,
    onError: (error) => showFormError(form, error, FIELDS),
    meta: { isShownInForm: true },
  });
  return (
    <Modal opened centered size="lg" title={upstream ? 'Edit upstream' : 'Add upstream'} onClose={onClose}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          {!upstream && <Presets onPick={(name, base_url) => form.setValues({ name, base_url })} />}
          <TextInput label="Name" {...form.getInputProps('name')} />
          <TextInput
            label="Base URL"
            placeholder="https://api.example.com/v1"
            {...form.getInputProps('base_url')}
          />
          <PasswordInput
            label="API key"
            description={<KeyHint baseUrl={form.values.base_url} upstream={upstream} />}
            autoComplete="off"
            {...form.getInputProps('api_key')}
          />
          <ModelRulesField form={form} />
          <FailoverField form={form} />
          <FormButtons
            label={upstream ? 'Save' : 'Add upstream'}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}

/** @returns the stored upstream; an empty key keeps the one that the service has */
function saveUpstream(
  owner: number,
  upstream: Upstream | undefined,
  values: UpstreamValues,
): Promise<Upstream> {
  const body = toUpstreamBody(values);
  if (!upstream) return createUpstream(owner, body);
  const { api_key: key, ...rest } = body;
  return updateUpstream(owner, upstream.id, key === '' ? rest : body);
}

/** Rules that are switched off are not checked. */
function checkPattern(model: string, mode: UpstreamValues['models']): string | null {
  return mode === 'rules' && model === '' ? 'Enter a model, or remove the rule.' : null;
}

function Presets({ onPick }: { onPick: (name: string, baseUrl: string) => void }): ReactNode {
  return (
    <div>
      <Text size="sm" fw={500} mb={6}>
        Provider
      </Text>
      <Chip.Group>
        <Group gap={6}>
          {PRESETS.map(({ name, baseUrl }) => (
            <Chip key={name} value={name} size="xs" onClick={() => onPick(name, baseUrl)}>
              {name}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </div>
  );
}

function KeyHint({ baseUrl, upstream }: { baseUrl: string; upstream?: Upstream }): ReactNode {
  if (upstream) return `Leave it empty to keep the key that ends with ${upstream.api_key_hint}.`;
  const preset = PRESETS.find((one) => one.baseUrl === baseUrl);
  if (!preset?.keysUrl)
    return 'It is stored encrypted and never shown again. Any 8 characters if the server needs none.';
  return (
    <>
      It is stored encrypted and never shown again.{' '}
      <Anchor href={preset.keysUrl} target="_blank" rel="noopener noreferrer" size="xs" underline="always">
        Keys of {preset.name}
      </Anchor>
    </>
  );
}
