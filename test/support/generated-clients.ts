import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const GENERATOR = {
  url: 'https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/7.17.0/openapi-generator-cli-7.17.0.jar',
  sha256: '25d6bd8273dd2be99979d544b62ea43f0ce1975f1aa582678b5093d1e7fcfce8',
};
const CACHE = resolve('node_modules/.cache/mintkeep');
const PROGRAMS = resolve('test/reliability/clients');
const TYPESCRIPT = resolve('node_modules/typescript/bin/tsc');

/** Language of a generated client. */
export interface Language {
  /** Name of the generator. */
  readonly generator: string;
  readonly options: readonly string[];
  /** Compiles or installs the client in a folder. @returns the command that runs the program */
  build(folder: string): Promise<readonly [command: string, ...args: string[]]>;
}

export const LANGUAGES: Readonly<Record<string, Language>> = {
  Go: {
    generator: 'go',
    options: [
      '--package-name=mintkeep',
      '--git-host=example.com',
      '--git-user-id=clients',
      '--git-repo-id=mintkeep',
    ],
    async build(folder) {
      await mkdir(join(folder, 'client/cmd'));
      await copyFile(join(PROGRAMS, 'main.go'), join(folder, 'client/cmd/main.go'));
      const client = { cwd: join(folder, 'client') };
      await run('go', ['mod', 'tidy'], client);
      await run('go', ['vet', '.', './cmd'], client);
      await run('go', ['build', '-o', join(folder, 'program'), './cmd'], client);
      return [join(folder, 'program')];
    },
  },
  TypeScript: {
    generator: 'typescript-fetch',
    options: ['--additional-properties=importFileExtension=.js'],
    async build(folder) {
      await copyFile(join(PROGRAMS, 'main.mts'), join(folder, 'main.mts'));
      await writeFile(join(folder, 'package.json'), '{"type": "module"}');
      const target = ['--target', 'es2022', '--lib', 'es2022,dom', '--module', 'nodenext'];
      const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')];
      await run(process.execPath, [TYPESCRIPT, '--strict', ...target, ...types, 'main.mts'], { cwd: folder });
      return [process.execPath, join(folder, 'main.mjs')];
    },
  },
  Python: {
    generator: 'python',
    options: ['--package-name=mintkeep'],
    async build(folder) {
      const python = join(folder, 'python/bin/python');
      await run('python3', ['-m', 'venv', join(folder, 'python')]);
      await run(python, ['-m', 'pip', 'install', '--quiet', join(folder, 'client')]);
      return [python, join(PROGRAMS, 'main.py')];
    },
  },
};

const REGISTRIES = [
  'https://repo1.maven.org/maven2/',
  'https://proxy.golang.org/',
  'https://pypi.org/simple/pip/',
];

/** Whether generator, modules and packages can be downloaded. */
export async function canDownload(): Promise<boolean> {
  const signal = AbortSignal.timeout(10_000);
  const responses = REGISTRIES.map((url) => fetch(url, { method: 'HEAD', signal }));
  return Promise.all(responses).then(
    () => true,
    () => false,
  );
}

/** Downloads the generator once. @throws if the network is not available or the file is another one */
export async function downloadGenerator(): Promise<string> {
  const path = join(CACHE, GENERATOR.url.slice(GENERATOR.url.lastIndexOf('/') + 1));
  if (await hasContent(path)) return path;
  const response = await fetch(GENERATOR.url);
  if (!response.ok) throw new Error(`the download of the generator failed with ${response.status}`);
  await mkdir(CACHE, { recursive: true });
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, Buffer.from(await response.arrayBuffer()));
  await rename(partial, path);
  if (!(await hasContent(path))) throw new Error('the download of the generator has another content');
  return path;
}

async function hasContent(path: string): Promise<boolean> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes !== undefined && createHash('sha256').update(bytes).digest('hex') === GENERATOR.sha256;
}

/** Generates a client into the folder `client`, builds the program of its language, and runs it. @returns its output */
export async function runClient(
  { generator, options, build }: Language,
  jar: string,
  folder: string,
  variables: NodeJS.ProcessEnv,
): Promise<string> {
  const output = join(folder, 'client');
  const args = ['generate', '-g', generator, '-i', join(folder, 'openapi.json'), '-o', output, ...options];
  await run('java', ['-jar', jar, ...args], { maxBuffer: 10_000_000 });
  const [command, ...rest] = await build(folder);
  const env = { PATH: process.env.PATH, ...variables };
  return (await run(command, rest, { env })).stdout;
}
