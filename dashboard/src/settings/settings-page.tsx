import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { configQuery } from '../session/config';
import { ThemeControl } from '../shell/account-menu';
import { CopyField } from '../ui/forms/copy-field';
import { showFormError } from '../ui/forms/form-error';
import { Section } from '../ui/section';
import { DeleteTeamModal } from './delete-team-modal';
import { renameOrganization } from './queries';

/** Settings of the organization and of this browser. */
export function SettingsPage(): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  const isTeam = owner.kind === 'team';
  return (
    <Stack gap="lg">
      {isTeam && <TeamSection key={owner.id} />}
      <Section title="Appearance" text="The theme is stored in this browser.">
        <Group maw={320}>
          <ThemeControl />
        </Group>
      </Section>
      <AboutSection />
      {isTeam && isAdmin && <DangerSection />}
    </Stack>
  );
}

function TeamSection(): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  const form = useForm({ initialValues: { name: owner.name } });
  const rename = useMutation({
    mutationFn: (name: string) => renameOrganization(owner.id, name),
    onSuccess: ({ name }) => {
      form.setInitialValues({ name });
      form.setValues({ name });
      notifications.show({ message: 'The team was renamed.' });
    },
    onError: (error) => showFormError(form, error, { invalid_name: 'name' }),
    meta: { isShownInForm: true },
  });
  return (
    <Section title="Team">
      <form onSubmit={form.onSubmit(({ name }) => rename.mutate(name))}>
        <Stack maw={420}>
          <TextInput label="Name" readOnly={!isAdmin} {...form.getInputProps('name')} />
          <CopyField label="Slug" value={owner.slug ?? ''} />
          {isAdmin && (
            <Group>
              <Button type="submit" disabled={form.values.name === owner.name} loading={rename.isPending}>
                Save
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  );
}

function AboutSection(): ReactNode {
  const { data: config } = useQuery(configQuery);
  return (
    <Section title="About">
      <Text size="sm">
        mintkeep {config?.version ?? ''}, dashboard {__VERSION__}. The API is described at{' '}
        <Anchor href="/docs" size="sm" underline="always">
          /docs
        </Anchor>
        .
      </Text>
    </Section>
  );
}

function DangerSection(): ReactNode {
  const owner = useOwner();
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <Section
      title="Delete the team"
      text="Projects, documents, upstreams and keys of the team are removed. Usage is kept."
    >
      <Button color="red" variant="outline" onClick={open}>
        Delete {owner.name}
      </Button>
      {isOpen && <DeleteTeamModal onClose={close} />}
    </Section>
  );
}
