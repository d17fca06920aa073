export const NAME_MAX_LENGTH = 64;
/** RFC 1035, as text without the final dot. */
export const HOSTNAME_MAX_LENGTH = 253;

/** Control characters, line ends, halves of characters, and what turns the direction of writing around. */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** What a device says of itself, fit to be shown and stored; undefined when nothing is left. Length in code points. */
export function toShownName(text: string, maxLength: number): string | undefined {
  const shown = text
    .replace(UNSHOWABLE, '')
    .trim()
    .slice(0, 2 * maxLength);
  const cut = [...shown].slice(0, maxLength).join('').trim();
  return cut === '' ? undefined : cut;
}
