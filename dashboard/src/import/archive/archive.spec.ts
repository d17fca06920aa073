import { strToU8, zipSync } from 'fflate';
import { MAX_FILES, readArchive } from './archive';
import { ArchiveError } from './archive-error';

const isMarkdown = (path: string) => path.endsWith('.md');
const archive = () =>
  zipSync({ 'a.md': strToU8('text of a'), notes: { 'b.md': strToU8(''), 'c.png': strToU8('x') } });

/** Copy of an archive with another value at an offset within the first entry of its directory. */
function patched(
  bytes: Uint8Array,
  offset: number,
  change: (view: DataView, at: number) => void,
): Uint8Array {
  const copy = bytes.slice();
  const view = new DataView(copy.buffer);
  const directory = view.getUint32(copy.length - 22 + 16, true);
  change(view, directory + offset);
  return copy;
}

it('unpacks the wanted files, and names the others', () => {
  const files = readArchive(archive(), isMarkdown);
  expect(files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)])).toEqual([
    ['a.md', 'text of a'],
    ['notes/b.md', ''],
    ['notes/c.png', ''],
  ]);
});

it('reads names that are UTF-8 without being marked as such', () => {
  // "U" and a combining diaeresis, as macOS writes it
  const marked = zipSync({ 'U\u0308ber.md': strToU8('text'), 'bild-ü.png': strToU8('x') });
  const unmarked = patched(marked, 8, (view, at) => view.setUint16(at, 0, true));
  for (const bytes of [marked, unmarked])
    expect(readArchive(bytes, isMarkdown)).toEqual([
      { path: 'U\u0308ber.md', bytes: strToU8('text') },
      { path: 'bild-ü.png', bytes: new Uint8Array() },
    ]);
});

it('rejects anything that is no complete archive', () => {
  for (const bytes of [strToU8(''), strToU8('no zip'), archive().slice(0, -30)])
    expect(() => readArchive(bytes, isMarkdown)).toThrow(ArchiveError);
});

it('rejects damaged files', () => {
  const damaged = patched(archive(), 16, (view, at) => view.setUint32(at, 1, true));
  expect(() => readArchive(damaged, isMarkdown)).toThrow('a.md is damaged in the archive');
});

it('rejects encrypted archives', () => {
  const encrypted = patched(archive(), 8, (view, at) => view.setUint16(at, 1, true));
  expect(() => readArchive(encrypted, isMarkdown)).toThrow(
    'the archive is encrypted: unpack it, and choose the folder',
  );
});

it('rejects archives that are too large before unpacking them', () => {
  const bomb = patched(archive(), 24, (view, at) => view.setUint32(at, 300 * 1024 * 1024, true));
  expect(() => readArchive(bomb, isMarkdown)).toThrow('more than 256 MiB');
  const many = Object.fromEntries(
    Array.from({ length: MAX_FILES + 1 }, (_, index) => [`${index}.md`, new Uint8Array()]),
  );
  expect(() => readArchive(zipSync(many, { level: 0 }), isMarkdown)).toThrow('more than 10000 files');
});
