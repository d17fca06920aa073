import { Alert, Anchor } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { useOwner } from '../organizations/owner';
import { formatNumber } from './format';

/** Says that the cost is incomplete, and leads to the prices. */
export function UnpricedHint({ totals }: { totals: Schemas['UsageMeasures'] }): ReactNode {
  const owner = useOwner();
  const count = totals.unpriced_requests;
  if (count === 0) return null;
  return (
    <Alert color="yellow" variant="light" icon={<IconInfoCircle size={18} aria-hidden />}>
      {count === 1 ? '1 request has' : `${formatNumber(count)} requests have`} no known cost and{' '}
      {count === 1 ? 'is' : 'are'} not part of the sum.{' '}
      <Anchor
        size="sm"
        c="inherit"
        underline="always"
        renderRoot={(props) => (
          <Link to="/o/$owner/settings/prices" params={{ owner: String(owner.id) }} {...props} />
        )}
      >
        See the prices
      </Anchor>
    </Alert>
  );
}
