import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import ts from 'typescript';

const SOURCES = join(import.meta.dirname, '../../src');

/**
 * Modules (top-level folders) and the modules that they may import. All modules may import `common`, `config` and
 * `metrics`, except for those three and `http`. Permissions are not inherited.
 */
const MODULES: Record<string, readonly string[]> = {
  common: [],
  config: [],
  metrics: [],
  http: [],
  database: [],
  'embedded-postgres': ['database'],
  jobs: ['database'],
  mail: ['jobs', 'database'],
  storage: ['jobs', 'database'],
  auth: ['database'],
  'dev-sign-in': ['auth'],
  organizations: ['auth', 'database'],
  invitations: ['mail', 'jobs', 'organizations', 'auth', 'database'],
  projects: ['organizations', 'database'],
  documents: ['jobs', 'projects', 'storage', 'organizations', 'database'],
  health: ['storage', 'auth', 'database'],
  limits: ['mail', 'jobs', 'organizations', 'database'],
  prices: ['upstreams', 'organizations', 'database'],
  keys: ['limits', 'organizations', 'auth', 'database'],
  upstreams: ['organizations', 'database'],
  usage: ['jobs', 'keys', 'limits', 'organizations', 'auth', 'database', 'http'],
  'device-auth': ['jobs', 'keys', 'limits', 'usage', 'organizations', 'auth', 'database'],
  dashboard: ['device-auth', 'auth'],
  openapi: ['proxy', 'health', 'organizations', 'auth'],
  proxy: ['keys', 'limits', 'prices', 'upstreams', 'usage', 'database', 'http'],
  commands: ['documents', 'storage', 'upstreams', 'jobs', 'database', 'embedded-postgres'],
};
/** Modules that may import no other module than these. */
const BASE: Record<string, readonly string[]> = {
  common: [],
  config: ['common'],
  metrics: ['common', 'config'],
  http: ['common'],
};
const FOR_ALL = ['common', 'config', 'metrics'];

/**
 * Folders of the second level and the folders of the same module that they may import; `.` stands for the files of the
 * module itself. Those files may import every folder of their module. A folder `dto` and every folder of the third level
 * are part of the folder above them.
 */
const FOLDERS: Record<string, readonly string[]> = {
  'common/api': [],
  'common/body': ['api', 'text'],
  'common/pages': ['api'],
  'http/fast-path': ['.'],
  'http/server': ['.', 'fast-path'],
  'database/connection': ['migrations'],
  'database/transactions': ['connection'],
  'database/invalidation': ['transactions'],
  'organizations/scope': ['model'],
  'organizations/audit': ['model', 'scope'],
  'limits/requests': ['rules'],
  'limits/consumption': ['rules'],
  'limits/notices': ['consumption', 'rules'],
  'upstreams/network': ['name-resolution'],
  'documents/store': [],
  'documents/update': ['store'],
  'documents/check': ['store', 'update'],
  'documents/export': ['store'],
  'device-auth/api': ['flow'],
  'device-auth/oauth': ['api', 'flow'],
  'device-auth/page': ['flow'],
  'proxy/metering': ['json', 'wire'],
  'proxy/request': ['json', 'wire'],
  'proxy/errors': ['wire'],
  'proxy/pool': ['errors', 'request', 'wire'],
  'proxy/exchange': ['errors', 'metering', 'pool', 'request', 'wire'],
  'proxy/models': ['errors', 'exchange', 'json', 'pool', 'request', 'wire'],
  'proxy/websocket': ['errors', 'exchange', 'json', 'metering', 'pool', 'request', 'wire'],
  'usage/query': ['record'],
  'usage/write': ['journal', 'record'],
};

interface Import {
  readonly file: string;
  readonly from: Place;
  readonly to: Place;
  /** Path of the imported file, with the extension `.js`. */
  readonly target: string;
  readonly names: string;
}

/** The module of a file (empty for the files of `src`), and its folder of the second level or `.`. */
interface Place {
  readonly module: string;
  readonly folder: string;
}

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const production = files.filter((file) => !file.endsWith('.spec.ts'));

function placeOf(file: string): Place {
  const [module = '', folder = '.'] = dirname(file).split('/');
  return { module: module === '.' ? '' : module, folder: folder === 'dto' ? '.' : folder };
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SOURCES, file), 'utf8');
  const statements = text.matchAll(/(?:(?:import|export)\s([^;]*?)\sfrom |import\()'(\.[^']+)'/g);
  return [...statements].map(([, names = '', path = '']) => {
    const target = relative(SOURCES, normalize(join(SOURCES, dirname(file), path)));
    return { file, from: placeOf(file), to: placeOf(target), target, names };
  });
}

const all = production.flatMap(importsOf);
const betweenModules = all.filter(({ from, to }) => from.module !== '' && from.module !== to.module);
const betweenFolders = all.filter(
  ({ from, to }) => from.module === to.module && from.folder !== '.' && from.folder !== to.folder,
);
const describeImport = ({ file, target }: Import) => `${file} imports ${target}`;

/** Groups of nodes that reach each other. */
function cyclesOf(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reachable = (from: string) => {
    const seen = new Set<string>();
    const open = [...(edges.get(from) ?? [])];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      open.push(...(edges.get(node) ?? []));
    }
    return seen;
  };
  const reach = new Map([...edges.keys()].map((node) => [node, reachable(node)]));
  return [...edges.keys()]
    .filter((node) => reach.get(node)!.has(node))
    .map((node) => [node, ...[...reach.get(node)!].filter((other) => reach.get(other)?.has(node))]);
}

function edgesBetween(pairs: readonly (readonly [string, string])[]): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const [from, to] of pairs) edges.set(from, (edges.get(from) ?? new Set()).add(to));
  return edges;
}

it('reads every import of the sources', () => {
  expect(production.length).toBeGreaterThan(80);
  expect(all.length).toBeGreaterThan(100);
  for (const file of production) {
    const text = readFileSync(join(SOURCES, file), 'utf8');
    const compiler = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
    expect([file, importsOf(file).length]).toEqual([
      file,
      compiler.filter((name) => name.startsWith('.')).length,
    ]);
  }
});

it('the table names every module', () => {
  const modules = new Set(production.map((file) => placeOf(file).module).filter((module) => module !== ''));
  expect([...modules].filter((module) => !(module in MODULES))).toEqual([]);
});

it('modules import only what the table allows', () => {
  const isAllowed = ({ from, to }: Import) =>
    MODULES[from.module]!.includes(to.module) || (BASE[from.module] ?? FOR_ALL).includes(to.module);
  expect(betweenModules.filter((edge) => !isAllowed(edge)).map(describeImport)).toEqual([]);
});

it('folders of the second level import only what the table allows', () => {
  const isAllowed = ({ from, to }: Import) =>
    FOLDERS[`${from.module}/${from.folder}`]?.includes(to.folder) === true;
  expect(betweenFolders.filter((edge) => !isAllowed(edge)).map(describeImport)).toEqual([]);
});

it('the tables allow nothing that no file needs', () => {
  const unusedModules = Object.entries(MODULES).flatMap(([from, targets]) =>
    targets
      .filter((to) => !betweenModules.some((edge) => edge.from.module === from && edge.to.module === to))
      .map((to) => `${from} -> ${to}`),
  );
  const unusedFolders = Object.entries(FOLDERS).flatMap(([from, targets]) =>
    targets
      .filter(
        (to) =>
          !betweenFolders.some(
            (edge) => `${edge.from.module}/${edge.from.folder}` === from && edge.to.folder === to,
          ),
      )
      .map((to) => `${from} -> ${to}`),
  );
  expect([...unusedModules, ...unusedFolders]).toEqual([]);
});

it('files do not import each other in a circle, types included', () => {
  const edges = edgesBetween(all.map(({ file, target }) => [file.replace(/\.ts$/, '.js'), target]));
  expect(cyclesOf(edges)).toEqual([]);
});

it('folders do not import each other in a circle, types included', () => {
  const name = ({ module, folder }: Place) => `${module}/${folder}`;
  const pairs = all
    .map(({ from, to }) => [name(from), name(to)] as const)
    .filter(([from, to]) => from !== to);
  expect(cyclesOf(edgesBetween(pairs))).toEqual([]);
});

it("another module's entities are used for foreign keys only", () => {
  const foreign = betweenModules.filter(({ target, file, names }) => {
    const entity = target.endsWith('.entity.js') && !names.startsWith('type');
    return entity && !file.endsWith('.entity.ts');
  });
  const constants = foreign.filter(({ names }) => !/^\{ [A-Z][A-Z_]+ \}$/.test(names.trim()));
  expect(constants.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

it('only filters, guards, controllers and decorators throw HTTP exceptions', () => {
  const offenders = production.filter((file) => {
    if (/\.(filter|guard|controller|decorator)\.ts$/.test(file)) return false;
    const text = readFileSync(join(SOURCES, file), 'utf8');
    const exceptions = /import [^;]*\b\w*Exception\b[^;]* from '@nestjs/.test(text);
    return exceptions || (file.endsWith('.service.ts') && text.includes("from 'express'"));
  });
  expect(offenders).toEqual([]);
});

it('every public route gives the reason why it needs no session', () => {
  const marks = production.flatMap((file) =>
    readFileSync(join(SOURCES, file), 'utf8')
      .split('\n')
      .filter((line) => line.trim().startsWith('@Public('))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(marks.length).toBeGreaterThan(0);
  expect(marks.filter((mark) => !/@Public\(\) \/\/ \S/.test(mark))).toEqual([]);
});
