/**
 * Control characters, line ends, lone surrogates, characters that change the direction of writing, and characters without
 * a width that join nothing.
 */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\u2060\uFEFF]/gu;
/** Visible characters. Hangul fillers count as letters and the blank Braille pattern as a symbol, but both are invisible. */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * Cleans a name so that other users can safely see it.
 * @param maxLength in code points
 * @returns undefined if nothing visible is left
 */
export function toDisplayName(text: string, maxLength: number): string | undefined {
  const shown = text
    .replace(UNSHOWABLE, '')
    .trim()
    .slice(0, 2 * maxLength);
  const cut = [...shown].slice(0, maxLength).join('').trim();
  return VISIBLE.test(cut) ? cut : undefined;
}
