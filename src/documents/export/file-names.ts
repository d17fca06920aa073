/** Device names of Windows, with any extension (Microsoft, "Naming Files, Paths, and Namespaces"). */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
/** Characters that Windows rejects, and invisible ones, which disguise a name. */
const UNSAFE = /[<>:"/\\|?*\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** Windows drops dots and spaces at the end. */
const DROPPED = /[. ]+$/;
const FALLBACK = 'project';
/** Leaves room for extension and underscore in the 255 bytes that file systems allow. */
const MAX_BYTES = 200;

/** File name of a document in an archive. */
export function documentFileName(slug: string): string {
  return `${escapeReserved(slug)}.md`;
}

/** File name of a project's archive: its name, with a hyphen for each character that is unsafe in a file name. */
export function archiveFileName(projectName: string): string {
  const safe = truncate(projectName.replace(UNSAFE, '-'), MAX_BYTES).replace(DROPPED, '').trimStart();
  return `${escapeReserved(safe === '' ? FALLBACK : safe)}.zip`;
}

function escapeReserved(name: string): string {
  return RESERVED.test(name) ? `_${name}` : name;
}

/** Cuts a text after the last code point that fits. */
function truncate(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
