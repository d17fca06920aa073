import fc from 'fast-check';

/** Where bytes are cut, as parts of their length; the same place twice makes an empty piece. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

/** The bytes in pieces, cut anywhere. */
export function splitAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = places.map((place) => Math.floor(place * bytes.length)).sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

/** The bytes one by one. */
export function singly(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
}
