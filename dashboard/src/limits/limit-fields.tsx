import { Group, NativeSelect, NumberInput, SimpleGrid, TagsInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { PERIODS } from './limit-values';
import type { LimitValues } from './limit-values';

const MAX_MODELS = 100;
const BUDGET_DECIMALS = 4;

interface Props {
  readonly form: UseFormReturnType<LimitValues>;
  readonly isReadOnly: boolean;
}

/** Fields of one limit set. An empty field is no limit. */
export function LimitFields({ form, isReadOnly }: Props): ReactNode {
  const shared = { readOnly: isReadOnly, placeholder: 'No limit' };
  const number = { ...shared, min: 0, hideControls: true, thousandSeparator: ',', allowNegative: false };
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
      <NumberInput
        label="Requests per minute"
        allowDecimal={false}
        {...number}
        {...form.getInputProps('requests')}
      />
      <NumberInput
        label="Tokens per minute"
        allowDecimal={false}
        {...number}
        {...form.getInputProps('tokens')}
      />
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <NumberInput
          label="Budget"
          className="grows"
          prefix="$"
          decimalScale={BUDGET_DECIMALS}
          {...number}
          {...form.getInputProps('usd')}
        />
        <NativeSelect
          label="Period"
          data={[...PERIODS]}
          disabled={isReadOnly}
          {...form.getInputProps('period')}
        />
      </Group>
      <TagsInput
        label="Allowed models"
        description="A star stands for any text. Press Enter after each one."
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        maxTags={MAX_MODELS}
        acceptValueOnBlur
        splitChars={[',']}
        {...shared}
        placeholder={form.values.models.length > 0 ? undefined : isReadOnly ? 'All models' : 'All, or gpt-*'}
        {...form.getInputProps('models')}
      />
    </SimpleGrid>
  );
}
