/** Characters. */
const MAX_LENGTH = 80;
/** Letters that Unicode does not decompose. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ı: 'i',
};

/** Pattern of a valid slug. */
export const SLUG_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/;

/** Explains the rule, for forms. */
export const SLUG_RULE = 'Use 1 to 80 lower-case letters, digits or hyphens, without a hyphen at either end.';

/**
 * Derives a slug from a title or name. The result may be empty.
 * @param transliterate replaces letters of other scripts; by default only accents are removed
 */
export function slugify(text: string, transliterate: (text: string) => string = removeAccents): string {
  const words = transliterate(text)
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-');
  return words.replace(/^-+/, '').slice(0, MAX_LENGTH).replace(/-+$/, '');
}

function removeAccents(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøđðłþı]/g, (letter) => LETTERS[letter]!);
}

/** Appends the first number that makes the slug unique: `notes`, `notes-2`, `notes-3`. */
export function uniqueSlug(slug: string, isTaken: (slug: string) => boolean): string {
  if (!isTaken(slug)) return slug;
  for (let number = 2; ; number++) {
    const suffix = `-${number}`;
    const candidate = slug.slice(0, MAX_LENGTH - suffix.length).replace(/-+$/, '') + suffix;
    if (!isTaken(candidate)) return candidate;
  }
}
