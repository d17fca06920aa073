import { Modal, NativeSelect, NumberInput, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { UseFormReturnType } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import type { Upstream } from '../upstreams/queries';
import { FormButtons } from '../ui/forms/form-buttons';
import { showFormError } from '../ui/forms/form-error';
import { findPrice } from './find-price';
import { changePrices } from './queries';
import type { Price } from './queries';
import { insertPrice } from './unpriced';

/** Price to change, or the beginning of a new one. */
export interface PriceTarget {
  readonly price?: Price;
  /** Place of the price in the list. */
  readonly index?: number;
  readonly model?: string;
  readonly upstreamId?: number;
}

interface Props {
  readonly target: PriceTarget;
  readonly upstreams: readonly Upstream[];
  readonly onClose: () => void;
}

interface Values {
  model: string;
  upstream: string;
  input: number | string;
  output: number | string;
  cached: number | string;
  written: number | string;
}

const DECIMALS = 4;
const REQUIRED = 'Enter a price. It can be 0.';

/** Adds a price, or changes one. */
export function PriceModal({ target, upstreams, onClose }: Props): ReactNode {
  const { id: owner } = useOwner();
  const form = useForm<Values>({
    initialValues: initialValues(target),
    validate: {
      model: (model) => (model === '' ? 'Enter a model, or a pattern such as gpt-*.' : null),
      input: (value) => (value === '' ? REQUIRED : null),
      output: (value) => (value === '' ? REQUIRED : null),
    },
  });
  const save = useMutation({
    mutationFn: (values: Values) => changePrices(owner, (prices) => store(prices, target, toPrice(values))),
    onSuccess: onClose,
    onError: (error) => showFormError(form, error, { invalid_prices: 'model' }),
    meta: { isShownInForm: true },
  });
  return (
    <Modal opened centered title={target.price ? 'Edit price' : 'Add price'} onClose={onClose}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <TextInput
            label="Model"
            description="The name that the upstream gets. A star stands for any text."
            placeholder="gpt-*"
            data-autofocus={target.model === undefined || undefined}
            {...form.getInputProps('model')}
          />
          <NativeSelect
            label="Upstream"
            data={upstreamOptions(upstreams, target.price?.upstream_id)}
            {...form.getInputProps('upstream')}
          />
          <PriceInputs form={form} />
          <FormButtons
            label={target.price ? 'Save' : 'Add price'}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}

/** Amounts of one price. Those for the cache may be empty. */
function PriceInputs({ form }: { form: UseFormReturnType<Values> }): ReactNode {
  return (
    <>
      <SimpleGrid cols={2}>
        <PriceInput label="Input" {...form.getInputProps('input')} />
        <PriceInput label="Output" {...form.getInputProps('output')} />
        <PriceInput label="Cached input" placeholder="As input" {...form.getInputProps('cached')} />
        <PriceInput label="Cache write" placeholder="As input" {...form.getInputProps('written')} />
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        US dollars per million tokens.
      </Text>
    </>
  );
}

/** @param current stored upstream, which may have been deleted */
function upstreamOptions(upstreams: readonly Upstream[], current: number | undefined) {
  const known = upstreams.map(({ id, name }) => ({ value: String(id), label: name }));
  const isKnown = current === undefined || upstreams.some(({ id }) => id === current);
  const missing = isKnown ? [] : [{ value: String(current), label: `Upstream ${current} (deleted)` }];
  return [{ value: '', label: 'All upstreams' }, ...known, ...missing];
}

function PriceInput(props: { label: string; placeholder?: string }): ReactNode {
  return (
    <NumberInput
      prefix="$"
      hideControls
      allowNegative={false}
      decimalScale={DECIMALS}
      thousandSeparator=","
      {...props}
    />
  );
}

function initialValues({ price, model = '', upstreamId }: PriceTarget): Values {
  if (!price)
    return { model, upstream: String(upstreamId ?? ''), input: '', output: '', cached: '', written: '' };
  return {
    model: price.model,
    upstream: String(price.upstream_id ?? ''),
    input: price.input,
    output: price.output,
    cached: price.cached_input ?? '',
    written: price.cache_write ?? '',
  };
}

function toPrice({ model, upstream, input, output, cached, written }: Values): Price {
  return {
    model,
    input: Number(input),
    output: Number(output),
    ...(upstream !== '' && { upstream_id: Number(upstream) }),
    ...(cached !== '' && { cached_input: Number(cached) }),
    ...(written !== '' && { cache_write: Number(written) }),
  };
}

/** A price that someone else has changed meanwhile is added anew, so that no input is lost. */
function store(prices: Price[], { price: old, index = 0 }: PriceTarget, price: Price): Price[] {
  const at = old ? findPrice(prices, old, index) : -1;
  return at < 0 ? insertPrice(prices, price) : prices.with(at, price);
}
