import { Stack, Text } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { membersQuery } from '../members/queries';
import type { Member } from '../members/queries';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { useCurrentSession } from '../session/store';
import { Loaded } from '../ui/loaded';
import { Section } from '../ui/section';
import { Consumption } from './consumption';
import { memberLimitsQuery } from './queries';

/** Consumption of each member for admins; the own one for others. */
export function MemberConsumption(): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  const { userId } = useCurrentSession();
  const members = useQuery(membersQuery(owner.id));
  return (
    <Section
      title={isAdmin ? 'Usage by member' : 'Your usage'}
      text={isAdmin ? 'What each member has used of these limits.' : 'What you have used of these limits.'}
    >
      <Loaded query={members}>
        {(list) => (
          <Stack component="ul" className="list" gap="lg">
            {list
              .filter((member) => isAdmin || member.user_id === userId)
              .map((member) => (
                <MemberRow key={member.user_id} member={member} />
              ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

/** Asks for the consumption when the row becomes visible, because a team may have many members. */
function MemberRow({ member }: { member: Member }): ReactNode {
  const owner = useOwner();
  const { ref, inViewport } = useInViewport<HTMLLIElement>();
  const { data } = useQuery({ ...memberLimitsQuery(owner.id, member.user_id), enabled: inViewport });
  return (
    <li ref={ref}>
      <Text size="sm" fw={600} mb={4} className="truncate">
        {member.email}
      </Text>
      {data && <Consumption limits={data.limits} status={data.status} of={member.email} />}
    </li>
  );
}
