import type { ReactNode } from 'react';
import iconUrl from '../icon.svg';

export function Logo({ size }: { size: number }): ReactNode {
  return <img src={iconUrl} width={size} height={size} alt="" />;
}
