import type { ReactNode } from 'react';
export function DocumentPage(): ReactNode {
  return 'soon';
}
