import { Text } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { summarizeLimits } from '../limits/limit-summary';
import { keyLimitsQuery } from '../limits/queries';
import { useIsAdmin } from '../organizations/owner';
import type { Key } from './queries';

/** Limits of a key, if it has any. They are loaded when the row becomes visible: a team may have many keys. */
export function KeyLimitsLine({ item }: { item: Key }): ReactNode {
  const isAdmin = useIsAdmin();
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const { data } = useQuery({
    ...keyLimitsQuery(item.organization_id, item.id, isAdmin),
    enabled: inViewport,
  });
  const summary = data && summarizeLimits(data.limits, data.status);
  return (
    <div ref={ref} className="viewport-mark">
      {summary && (
        <Text size="sm" c={data.status.budget?.is_exceeded ? 'red' : 'dimmed'}>
          Limits: {summary}
        </Text>
      )}
    </div>
  );
}
