import type { ReactNode } from 'react';
import iconUrl from '../icon.svg';

/** Logo of mintkeep, decorative for screen readers. The size is in CSS pixels. */
export function Logo({ size }: { size: number }): ReactNode {
  return <img src={iconUrl} width={size} height={size} alt="" />;
}
