import type { ReactNode } from 'react';
import { describeAge } from './age';
import { useNow } from './now';

/** Age of a past time, with the exact time on hover. The service's clock may be ahead of the browser's. */
export function TimeAgo({ time }: { time: string }): ReactNode {
  const now = useNow();
  return <Time time={time} text={describeAge(Math.min(Date.parse(time), now), now)} />;
}

/** Distance of an end, such as `in 3 days`, with the exact time on hover. */
export function TimeUntil({ time }: { time: string }): ReactNode {
  const now = useNow();
  return <Time time={time} text={describeAge(Date.parse(time), now)} />;
}

function Time({ time, text }: { time: string; text: string }): ReactNode {
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {text}
    </time>
  );
}
