/**
 * The value of an `updated_at` column after a change: now, and later than before even where clocks stand
 * still or go back, so that it changes with every change.
 */
export const advancedUpdatedAt = (): string =>
  `greatest(clock_timestamp(), updated_at + interval '1 millisecond')`;
