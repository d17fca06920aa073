import fc from 'fast-check';

/** Positions at which bytes are split, as fractions of their length. Equal positions create an empty piece. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

/** Splits the bytes at these positions. */
export function splitAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = places.map((place) => Math.floor(place * bytes.length)).sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

/** Splits the bytes into single bytes. */
export function splitBytes(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
}
