import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/service.js';

const run = promisify(execFile);
const TIMEOUT_MS = 300_000;

/** Runs npm without the settings that the npm of this test run passes on. */
function npm(args: string[], cwd: string) {
  const env = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  return run('npm', args, { cwd, env: Object.fromEntries(env), maxBuffer: 10_000_000 });
}

describe('the package', () => {
  let folder: string;
  let files: string[];
  let tarball: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], resolve('cli'));
    const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
    files = packed.files.map(({ path }) => path);
    tarball = join(folder, packed.filename);
  }, TIMEOUT_MS);

  it('contains the built files, the README and the licence only', () => {
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'bin/mintkeep.js', 'dist/main.js', 'package.json']),
    );
    const others = files.filter(
      (path) => !/^(LICENSE|README\.md|package\.json|bin\/mintkeep\.js)$/.test(path),
    );
    expect(others.filter((path) => !/^dist\/[\w/-]+\.js$/.test(path))).toEqual([]);
  });

  it(
    'works in an empty folder, with this Node and with Node 24',
    async () => {
      const empty = join(folder, 'empty');
      await mkdir(empty);
      await writeFile(join(empty, 'package.json'), '{"private": true}');
      await npm(['install', '--no-audit', '--no-fund', tarball], empty);
      const command = join(empty, 'node_modules/.bin/mintkeep');
      const env = { PATH: process.env.PATH, HOME: empty, MINTKEEP_KEYRING: 'off' };
      const node24 = await npm(
        ['exec', '--yes', '--package=node@24', '--', 'sh', '-c', 'command -v node'],
        empty,
      );
      for (const node of [process.execPath, node24.stdout.trim()]) {
        const { stdout } = await run(node, [command, '--version'], { env });
        expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
        // Loads the modules of the device flow, the credentials and the network.
        const login = run(node, [command, 'login', 'http://127.0.0.1:9'], { env });
        await expect(login).rejects.toMatchObject({
          code: 1,
          stderr: expect.stringMatching(/^mintkeep: cannot reach/),
        });
        await expect(run(node, [command, 'status'], { env })).rejects.toMatchObject({ code: 4 });
      }
    },
    TIMEOUT_MS,
  );
});
