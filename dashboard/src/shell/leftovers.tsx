import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { leftovers } from '../saving/leftovers';

const LeftoverNotice = lazy(() => import('../rescue/leftover-notice'));

/** Saves the drafts of earlier visits, and shows those that need a decision. */
export function Leftovers(): ReactNode {
  const list = useSyncExternalStore(leftovers.subscribe, leftovers.snapshot);
  useEffect(() => leftovers.start(), []);
  if (list.length === 0) return null;
  return (
    <Suspense>
      <LeftoverNotice list={list} />
    </Suspense>
  );
}
