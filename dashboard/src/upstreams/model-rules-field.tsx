import { ActionIcon, Button, Group, Input, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconArrowRight, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { UpstreamValues } from './upstream-values';

const MAX_RULES = 500;
const MODES = [
  { value: 'all', label: 'Every model' },
  { value: 'rules', label: 'By rules' },
];

interface Props {
  readonly form: UseFormReturnType<UpstreamValues>;
}

/** Models that the upstream serves, and the names that it gets for them. */
export function ModelRulesField({ form }: Props): ReactNode {
  const { models, rules } = form.values;
  const add = () => form.insertListItem('rules', { model: '', as: '' });
  const changeMode = (mode: string) => {
    form.setFieldValue('models', mode as UpstreamValues['models']);
    if (mode === 'rules' && rules.length === 0) add();
  };
  return (
    <Stack gap="xs" role="group" aria-label="Models">
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          Models
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Served models"
          data={MODES}
          value={models}
          onChange={changeMode}
        />
      </Group>
      {models === 'rules' && (
        <>
          <Text size="xs" c="dimmed">
            Only matching models go to this upstream; the first rule that matches decides. A star stands for
            any text. The name on the right replaces the requested one: openai/* as * removes a prefix.
          </Text>
          {rules.map((_, index) => (
            <RuleRow key={index} form={form} index={index} />
          ))}
          {form.errors.rules && <Input.Error>{form.errors.rules}</Input.Error>}
          <Group>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconPlus size={14} aria-hidden />}
              disabled={rules.length >= MAX_RULES}
              onClick={add}
            >
              Add rule
            </Button>
          </Group>
        </>
      )}
    </Stack>
  );
}

function RuleRow({ form, index }: Props & { index: number }): ReactNode {
  const place = index + 1;
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <TextInput
        className="grows"
        size="xs"
        aria-label={`Model of rule ${place}`}
        placeholder="gpt-*"
        {...form.getInputProps(`rules.${index}.model`)}
      />
      <IconArrowRight size={14} className="rule-arrow" aria-hidden />
      <TextInput
        className="grows"
        size="xs"
        aria-label={`Name sent by rule ${place}`}
        placeholder="same name"
        {...form.getInputProps(`rules.${index}.as`)}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Move rule ${place} up`}
        disabled={index === 0}
        onClick={() => form.reorderListItem('rules', { from: index, to: index - 1 })}
      >
        <IconArrowUp size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Remove rule ${place}`}
        onClick={() => form.removeListItem('rules', index)}
      >
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </Group>
  );
}
