import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { Loaded } from '../ui/loaded';
import { Section } from '../ui/section';
import { Consumption } from './consumption';
import { LimitForm } from './limit-form';
import { limitsAnything } from './limit-values';
import { MemberConsumption } from './member-consumption';
import { changeLimits, limitsQuery } from './queries';
import type { LimitChange, LimitSet, OrganizationLimits } from './queries';

/** Limits of the organization and of its members, and what is used of them. */
export function LimitsPage(): ReactNode {
  const owner = useOwner();
  const limits = useQuery(limitsQuery(owner.id));
  return <Loaded query={limits}>{(data) => <Limits key={owner.id} data={data} />}</Loaded>;
}

function Limits({ data }: { data: OrganizationLimits }): ReactNode {
  const isTeam = useOwner().kind === 'team';
  const { organization, member, status } = data;
  return (
    <Stack gap="lg">
      <Section
        title={isTeam ? 'Limits of the team' : 'Limits'}
        text={
          isTeam ? 'They apply to all keys of the team together.' : 'They apply to all your keys together.'
        }
      >
        <Stack gap="lg">
          <Consumption limits={organization} status={status} of={isTeam ? 'the team' : 'your keys'} />
          <SetForm level="organization" limits={organization} />
        </Stack>
      </Section>
      {isTeam && (
        <Section title="Limits of each member" text="They apply to all keys of one member together.">
          <SetForm level="member" limits={member} />
        </Section>
      )}
      {isTeam && limitsAnything(member) && <MemberConsumption />}
      <Text size="sm" c="dimmed">
        A key can have limits of its own, too: see the menu of the key. The strictest limit decides. Days,
        weeks and months are those of UTC.
      </Text>
    </Stack>
  );
}

/** Form for one of the two sets. People who may not change it see it only. */
function SetForm({ level, limits }: { level: 'organization' | 'member'; limits: LimitSet }): ReactNode {
  const { id } = useOwner();
  const isReadOnly = !useIsAdmin();
  if (isReadOnly && !limitsAnything(limits)) return <Text size="sm">There are none.</Text>;
  const onSave = (change: LimitChange) => changeLimits(id, level, change);
  return <LimitForm limits={limits} isReadOnly={isReadOnly} onSave={onSave} />;
}
