/** YAML between `---` lines at the beginning of a file. */
const BLOCK = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)??---[ \t]*(?:\r?\n|$)/;
const KEY = /^([A-Za-z_][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*$/;

/** Members that the export of mintkeep writes. */
const OWN_KEYS = ['title', 'created', 'updated'];

/** Front matter of a file and the text after it. */
export interface FrontMatter {
  readonly title: string | undefined;
  /** Text without the front matter, if mintkeep wrote it; otherwise the whole text, so that nothing is lost. */
  readonly body: string;
  /** Text after the front matter. */
  readonly rest: string;
}

/** Reads the title of a front matter, which may be plain or in quotes. */
export function readFrontMatter(text: string): FrontMatter {
  const block = BLOCK.exec(text);
  if (!block) return { title: undefined, body: text, rest: text };
  const entries = (block[1] ?? '').split(/\r?\n/).map((line) => KEY.exec(line));
  const rest = text.slice(block[0].length);
  const isOwn = entries.every((entry) => entry !== null && OWN_KEYS.includes(entry[1]!));
  const title = entries.find((entry) => entry?.[1] === 'title')?.[2];
  return { title: title === undefined ? undefined : parseScalar(title), body: isOwn ? rest : text, rest };
}

function parseScalar(value: string): string | undefined {
  if (value.startsWith('"')) return parseQuoted(value);
  if (/^'(?:[^']|'')*'$/.test(value)) return value.slice(1, -1).replace(/''/g, "'");
  const plain = value.replace(/\s+#.*$/, '');
  return plain === '' || /^[|>[{&*!]/.test(plain) ? undefined : plain;
}

/** Quotes of YAML have the escapes of JSON, and a few more that titles do not need. */
function parseQuoted(value: string): string | undefined {
  try {
    return String(JSON.parse(value));
  } catch {
    return undefined;
  }
}
