import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Fenced block of a page. */
export interface Block {
  /** Such as `sh`. */
  readonly language: string;
  /** Whether a test must not run it: the info string has `no-test`. */
  readonly isSkipped: boolean;
  readonly text: string;
  /** Block that follows without prose in between: the expected output. */
  readonly next?: Block;
}

/** Paths of the pages of the documentation, from the root of the repository. */
export function pages(): string[] {
  const inDocs = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((path) => join('docs', path));
  const inRoot = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
  return [...inRoot, ...inDocs.filter((path) => path.endsWith('.md'))];
}

/** Fenced blocks of a page, in order. */
export function blocksOf(path: string): Block[] {
  const fences = [...readFileSync(path, 'utf8').matchAll(/^```([^\n`]*)\n(.*?)^```$\n?/gms)];
  const blocks: Block[] = [];
  for (let i = fences.length - 1; i >= 0; i--) {
    const [whole, info = '', text = ''] = fences[i]!;
    const [language = '', ...options] = info.trim().split(/\s+/);
    const isFollowed = fences[i + 1]?.index === fences[i]!.index + whole.length;
    const next = isFollowed ? blocks[0] : undefined;
    blocks.unshift({ language, isSkipped: options.includes('no-test'), text, next });
  }
  return blocks;
}

/** Targets of the links of a page, without those of its blocks and code. */
export function linksOf(path: string): string[] {
  const prose = withoutBlocks(path).replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
}

/** Anchors of a page's headings, as GitHub builds them. */
export function anchorsOf(path: string): Set<string> {
  const headings = [...withoutBlocks(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
  return new Set(headings.map(anchorOf));
}

function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return words.trim().replace(/\s/g, '-');
}

function withoutBlocks(path: string): string {
  return readFileSync(path, 'utf8').replace(/^```.*?^```$/gms, '');
}
