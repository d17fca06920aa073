import fc from 'fast-check';
import { BodyPace } from './body-pace.js';

const MIN_BYTES = 16_384;
const WINDOW_TICKS = 10;

it('reports a body as too slow after any ten counted ticks with too few bytes', () => {
  const tick = fc.record({
    bytes: fc.integer({ min: 0, max: 2 * MIN_BYTES }),
    wasPaused: fc.boolean(),
    counts: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(tick, { maxLength: 40 }), (ticks) => {
      const pace = new BodyPace();
      const counted: number[] = [];
      for (const { bytes, wasPaused, counts } of ticks) {
        if (wasPaused) pace.onPaused();
        pace.onData(bytes);
        const isTooSlow = pace.endTick(counts);
        const isCounted = counts && !wasPaused;
        if (isCounted) counted.push(bytes);
        const window = counted.slice(-WINDOW_TICKS);
        const windowBytes = window.reduce((sum, each) => sum + each, 0);
        const isSlow = window.length === WINDOW_TICKS && windowBytes < WINDOW_TICKS * MIN_BYTES;
        expect(isTooSlow).toBe(isCounted && isSlow);
        expect(pace.isActive).toBe(wasPaused || bytes >= MIN_BYTES);
      }
    }),
  );
});
