import type { ReactNode } from 'react';

/** Tells that the code of a page is loading. `index.html` has the same bar until the first page is shown. */
export function LoadingPage(): ReactNode {
  return <div className="loading-bar" role="progressbar" aria-label="Loading" />;
}
