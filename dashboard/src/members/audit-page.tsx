import { Paper, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { Loaded } from '../ui/loaded';
import { OlderButton } from '../ui/older-button';
import { TimeAgo } from '../ui/time-ago';
import { describeEvent } from './describe-event';
import { auditQuery } from './queries';

/** Events of a team, newest first. */
export function AuditPage(): ReactNode {
  const owner = useOwner();
  const audit = useInfiniteQuery(auditQuery(owner.id));
  return (
    <Loaded query={audit}>
      {({ pages }) => (
        <>
          <Paper withBorder radius="lg" component="ul" className="list">
            {pages.flatMap(({ events }) =>
              events.map((event) => (
                <li key={event.id} className="list-row padded-row">
                  <div className="row-main">
                    <Text>{describeEvent(event)}</Text>
                    <Text size="sm" c="dimmed">
                      {event.actor?.email ?? 'mintkeep'}
                    </Text>
                  </div>
                  <Text size="sm" c="dimmed">
                    <TimeAgo time={event.at} />
                  </Text>
                </li>
              )),
            )}
          </Paper>
          <OlderButton query={audit} label="Show older events" />
        </>
      )}
    </Loaded>
  );
}
