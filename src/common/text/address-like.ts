/** Invisible characters and combining marks, which separate no words. */
const IGNORED = /[\p{Default_Ignorable_Code_Point}\p{M}]/gu;
/** Characters that programs treat as a dot in domain names (RFC 3490, section 3.1), and look-alikes. */
const DOTS = /[\u3002\uFF61\u06D4\u0701\u0702\uA4F8\uA60E\u{10A50}]/gu;
const COLONS = /[\u02D0\u02F8\u0589\u05C3\u2236\uA789]/gu;
const SLASHES = /[\u2044\u2215\u29F8\u2571\u3033]/gu;

const URL_PREFIX = /:\/\/|www\./i;
/** Label, dot and beginning of a top-level domain; or an IPv4 address. */
const BARE_DOMAIN = /[\p{L}\p{N}_-]\.(?:\p{L}{2}|xn--)|\d{1,3}(?:\.\d{1,3}){3}/iu;

/** Whether a part of the text looks like a web address to a reader or a mail program. Recognizes homographs. */
export function looksLikeAddress(text: string): boolean {
  const plain = text
    .normalize('NFKD')
    .replace(IGNORED, '')
    .replace(DOTS, '.')
    .replace(COLONS, ':')
    .replace(SLASHES, '/');
  return URL_PREFIX.test(plain) || BARE_DOMAIN.test(plain);
}
