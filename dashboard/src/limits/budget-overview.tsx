import { Paper, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { useCurrentSession } from '../session/store';
import { Consumption } from './consumption';
import { NO_LIMITS } from './limit-values';
import { limitsQuery, memberLimitsQuery } from './queries';
import type { LimitSet } from './queries';

/** Budgets that apply to the signed-in person, and what remains of them. Shows nothing if there are none. */
export function BudgetOverview(): ReactNode {
  const owner = useOwner();
  const isTeam = owner.kind === 'team';
  const { userId } = useCurrentSession();
  const { data } = useQuery(limitsQuery(owner.id));
  const hasOwnBudget = isTeam && data !== undefined && data.member.budget !== null;
  const { data: own } = useQuery({ ...memberLimitsQuery(owner.id, userId), enabled: hasOwnBudget });
  if (!data || (data.organization.budget === null && !(hasOwnBudget && own))) return null;
  return (
    <Paper withBorder radius="lg" p="md" mb="md" component="section" aria-label="Budgets">
      <Stack gap="md">
        <Consumption
          limits={budgetOnly(data.organization)}
          status={data.status}
          of={isTeam ? 'the team' : 'your keys'}
        />
        {hasOwnBudget && own && (
          <Consumption limits={budgetOnly(own.limits)} status={own.status} of="your keys" />
        )}
      </Stack>
    </Paper>
  );
}

/** Limits per minute say nothing about the range of the page. */
function budgetOnly({ budget }: LimitSet): LimitSet {
  return { ...NO_LIMITS, budget };
}
