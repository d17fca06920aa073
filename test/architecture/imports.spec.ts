import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import ts from 'typescript';

const SOURCES = join(import.meta.dirname, '../../src');

/** Who may import whom; all may import `common` and `config`, and all but those `metrics`. Entries of an entry are not inherited. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  common: [],
  config: [],
  metrics: [],
  database: [],
  jobs: ['database'],
  storage: ['jobs', 'database'],
  auth: ['database'],
  'dev-sign-in': ['auth'],
  organizations: ['auth', 'database'],
  invitations: ['jobs', 'organizations', 'auth', 'database'],
  projects: ['organizations', 'database'],
  documents: ['jobs', 'projects', 'storage', 'organizations', 'database'],
  health: ['storage', 'auth'],
  keys: ['organizations', 'auth', 'database'],
  upstreams: ['organizations', 'database'],
  usage: ['jobs', 'keys', 'organizations', 'auth', 'database'],
  'device-auth': ['jobs', 'keys', 'organizations', 'auth', 'database'],
  openapi: ['proxy', 'health', 'organizations', 'auth'],
  proxy: ['metrics', 'keys', 'upstreams', 'usage', 'database'],
  commands: ['documents', 'storage', 'upstreams', 'jobs', 'metrics', 'database'],
};
/** `common` knows nothing of the rest; `config` makes what it knows available, and so may import it. */
const FOR_ALL = ['common', 'config'];

interface Import {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly target: string;
  readonly names: string;
}

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const production = files.filter((file) => !file.endsWith('.spec.ts'));
const moduleOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '');

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SOURCES, file), 'utf8');
  const statements = text.matchAll(/(?:(?:import|export)\s([^;]*?)\sfrom |import\()'(\.[^']+)'/g);
  return [...statements].map(([, names = '', path = '']) => {
    const target = relative(SOURCES, normalize(join(SOURCES, dirname(file), path)));
    return { file, from: moduleOf(file), to: moduleOf(target), target, names };
  });
}

const imports = production.flatMap(importsOf).filter(({ from, to }) => from !== '' && from !== to);

it('reads the sources, and overlooks no import', () => {
  expect(production.length).toBeGreaterThan(80);
  expect(imports.length).toBeGreaterThan(100);
  for (const file of production) {
    const text = readFileSync(join(SOURCES, file), 'utf8');
    const compiler = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
    expect([file, importsOf(file).length]).toEqual([
      file,
      compiler.filter((name) => name.startsWith('.')).length,
    ]);
  }
});

it('every folder is in the table', () => {
  const folders = new Set(production.map(moduleOf).filter((folder) => folder !== ''));
  expect([...folders].filter((folder) => !(folder in MAY_IMPORT))).toEqual([]);
});

it('nobody imports whom it may not', () => {
  const allowed = ({ from, to }: Import) =>
    MAY_IMPORT[from]!.includes(to) ||
    (from !== 'common' && (FOR_ALL.includes(to) || (from !== 'config' && to === 'metrics')));
  expect(
    imports.filter((edge) => !allowed(edge)).map(({ file, target }) => `${file} imports ${target}`),
  ).toEqual([]);
});

it('the table allows nothing that nobody needs', () => {
  const unused = Object.entries(MAY_IMPORT).flatMap(([from, targets]) =>
    targets
      .filter((to) => !imports.some((edge) => edge.from === from && edge.to === to))
      .map((to) => `${from} → ${to}`),
  );
  expect(unused).toEqual([]);
});

it('the table has no cycle', () => {
  const reaches = (from: string, to: string): boolean =>
    MAY_IMPORT[from]!.some((next) => next === to || reaches(next, to));
  expect(Object.keys(MAY_IMPORT).filter((folder) => reaches(folder, folder))).toEqual([]);
});

it("another module's entities are used for foreign keys only", () => {
  const foreign = imports.filter(({ target, file, names }) => {
    const entity = target.endsWith('.entity.js') && !names.startsWith('type');
    return entity && !file.endsWith('.entity.ts');
  });
  const constants = foreign.filter(({ names }) => !/^\{ [A-Z][A-Z_]+ \}$/.test(names.trim()));
  expect(constants.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

it('nobody but filters and what runs before services speaks of HTTP', () => {
  const offenders = production.filter((file) => {
    if (/\.(filter|guard|controller|decorator)\.ts$/.test(file)) return false;
    const text = readFileSync(join(SOURCES, file), 'utf8');
    const exceptions = /import [^;]*\b\w*Exception\b[^;]* from '@nestjs/.test(text);
    return exceptions || (file.endsWith('.service.ts') && text.includes("from 'express'"));
  });
  expect(offenders).toEqual([]);
});

it('every exception from needing a session says why', () => {
  const marks = production.flatMap((file) =>
    readFileSync(join(SOURCES, file), 'utf8')
      .split('\n')
      .filter((line) => line.trim().startsWith('@Public('))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(marks.length).toBeGreaterThan(0);
  expect(marks.filter((mark) => !/@Public\(\) \/\/ \S/.test(mark))).toEqual([]);
});
