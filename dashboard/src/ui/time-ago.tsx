import { useState } from 'react';
import type { ReactNode } from 'react';
import { describeAge } from './age';

/** Age of a time, with the exact time on hover. */
export function TimeAgo({ time }: { time: string }): ReactNode {
  const date = new Date(time);
  const [now] = useState(() => Date.now());
  return (
    <time dateTime={time} title={date.toLocaleString()}>
      {describeAge(date.getTime(), now)}
    </time>
  );
}
