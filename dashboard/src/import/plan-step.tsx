import { Accordion, List, Radio, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { slugify } from '../text/slug';
import { FormButtons } from '../ui/forms/form-buttons';
import { FormSkeleton } from '../ui/skeletons';
import type { RawFile } from './archive/archive';
import type { ExistingDocument } from './comparison';
import { planImport } from './plan';
import type { ImportPlan, SkippedFile, TakenChoice } from './plan';

interface Props {
  readonly files: readonly RawFile[];
  readonly existing: readonly ExistingDocument[];
  readonly onPlan: (plan: ImportPlan) => void;
  readonly onCancel: () => void;
}

/** Letters of all scripts, loaded for imports only because of its size. */
const transliterationQuery = {
  queryKey: ['transliteration'],
  staleTime: Infinity,
  queryFn: async () => {
    const { transliterate } = await import('transliteration');
    return (text: string) => slugify(text, (one) => slugifyAccents(one, transliterate));
  },
};

/** Accents first, so that imported titles get the same slugs as typed ones. */
function slugifyAccents(text: string, transliterate: (text: string) => string): string {
  return transliterate(text.normalize('NFKD').replace(/\p{M}/gu, ''));
}

/** Shows the effects of the import before anything is stored. */
export function PlanStep({ files, existing, onPlan, onCancel }: Props): ReactNode {
  const [taken, setTaken] = useState<TakenChoice>('skip');
  const { data: toSlug } = useQuery(transliterationQuery);
  const plan = useMemo(
    () => toSlug && planImport(files, existing, { taken, slugify: toSlug }),
    [files, existing, taken, toSlug],
  );
  if (!plan) return <FormSkeleton />;
  const { documents, skipped, unchanged, takenCount } = plan;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onPlan(plan);
      }}
    >
      <Stack>
        <Text role="status">
          {count(documents.length, 'document')} to import
          {unchanged.length > 0 && `, ${unchanged.length} already there`}
          {skipped.length > 0 && `, ${skipped.length} skipped`}
        </Text>
        {takenCount > 0 && <TakenRadio count={takenCount} value={taken} onChange={setTaken} />}
        {skipped.length > 0 && <SkippedList skipped={skipped} />}
        <FormButtons
          label={`Import ${count(documents.length, 'document')}`}
          isDisabled={documents.length === 0}
          isPending={false}
          onCancel={onCancel}
        />
      </Stack>
    </form>
  );
}

interface TakenProps {
  readonly count: number;
  readonly value: TakenChoice;
  readonly onChange: (value: TakenChoice) => void;
}

function TakenRadio({ count: number, value, onChange }: TakenProps): ReactNode {
  return (
    <Radio.Group
      label={`${count(number, 'slug')} of other documents`}
      description="Documents with the same slug exist in the project."
      value={value}
      onChange={(choice) => onChange(choice)}
    >
      <Stack gap="xs" mt="xs">
        <Radio value="skip" label="Skip these files" />
        <Radio value="rename" label="Import them under a new slug" />
        <Radio value="replace" label="Replace the existing documents" color="red" />
      </Stack>
    </Radio.Group>
  );
}

/** Files that are not imported, with the reason for each. */
export function SkippedList({
  skipped,
  label = 'Skipped files',
}: {
  skipped: readonly SkippedFile[];
  label?: string;
}): ReactNode {
  return (
    <Accordion variant="contained">
      <Accordion.Item value="skipped">
        <Accordion.Control>{`${label} (${skipped.length})`}</Accordion.Control>
        <Accordion.Panel>
          <List size="sm" className="skipped-list">
            {skipped.map(({ path, reason }) => (
              <List.Item key={path}>
                {path}: {reason}
              </List.Item>
            ))}
          </List>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
