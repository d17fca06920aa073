/**
 * Control characters, line ends, halves of characters, what turns the direction of writing around, and what has no
 * width and joins nothing.
 */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\u2060\uFEFF]/gu;
/** Fillers of Hangul count as letters, and the empty cell of Braille as a symbol; they are blank. */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/** What somebody calls something, fit to be shown to others; undefined when nothing is left. Length in code points. */
export function toShownName(text: string, maxLength: number): string | undefined {
  const shown = text
    .replace(UNSHOWABLE, '')
    .trim()
    .slice(0, 2 * maxLength);
  const cut = [...shown].slice(0, maxLength).join('').trim();
  return VISIBLE.test(cut) ? cut : undefined;
}
