import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { CliUser } from '../support/cli.js';
import { BASH, describeWith, FISH, ZSH } from '../support/requirements.js';

const run = promisify(execFile);

/** Values that a shell would change or run if they were not quoted. */
const HOSTILE = [
  'plain',
  "it's",
  '"double"',
  '$HOME ${HOME} $(touch pwned) `touch pwned`',
  'a b\tc  ',
  'back\\slash\\\\n\\',
  'line\nbreak\r\n',
  '; touch pwned #',
  '!! !x && ||',
  '~ * ? [a] {a,b} <(x) =ls %1',
  "\\' \\\" '\\''",
  'ümläut € 🙂 ’quote’',
  '-n',
  '',
] as const;
const KEYS = HOSTILE.filter((value) => value !== '');
const URL = "http://localhost:3000/a'b$HOME;(c)&!";

let user: CliUser;

beforeEach(async () => {
  user = await CliUser.create();
});

const environment = (key: string) => ({ MINTKEEP_URL: URL, MINTKEEP_API_KEY: key });
const variables = (key: string) => ({
  OPENAI_BASE_URL: `${URL}/v1`,
  OPENAI_API_KEY: key,
  ANTHROPIC_BASE_URL: URL,
  ANTHROPIC_AUTH_TOKEN: key,
  MINTKEEP_URL: URL,
});

async function print(shell: string, key: string): Promise<string> {
  const { code, stdout, stderr } = await user.run(['env', '--shell', shell], { env: environment(key) });
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** Evaluates the output in a shell, and returns the variables that a program of it sees. */
async function evaluate(shell: string, args: string[], key: string): Promise<Record<string, string>> {
  const file = join(user.home, 'variables');
  await writeFile(file, await print(shell, key));
  const names = Object.keys(variables(key));
  const show = `${process.execPath} -e 'console.log(JSON.stringify(process.env))'`;
  const script =
    shell === 'fish' ? `eval (cat ${file} | string collect); ${show}` : `eval "$(cat ${file})"; ${show}`;
  const { stdout } = await run(shell, [...args, '-c', script], {
    env: { PATH: process.env.PATH, HOME: user.home },
    cwd: user.home,
  });
  const seen = JSON.parse(stdout) as Record<string, string>;
  return Object.fromEntries(names.map((name) => [name, seen[name]!]));
}

describeWith(BASH, 'bash', () => {
  it.each(KEYS)('evaluates %j', async (key) => {
    expect(await evaluate('bash', ['--norc'], key)).toEqual(variables(key));
  });
});

describeWith(ZSH, 'zsh', () => {
  it.each(KEYS)('evaluates %j', async (key) => {
    expect(await evaluate('zsh', ['-f'], key)).toEqual(variables(key));
  });
});

describeWith(FISH, 'fish', () => {
  it.each(KEYS)('evaluates %j', async (key) => {
    expect(await evaluate('fish', ['--no-config'], key)).toEqual(variables(key));
  });
});

it.each(KEYS)('json contains %j', async (key) => {
  expect(JSON.parse(await print('json', key))).toEqual(variables(key));
});

it.each(KEYS.filter((key) => !/[\n\r]|'.*"|".*'/.test(key)))('dotenv contains %j', async (key) => {
  const env = { ...environment(key), MINTKEEP_URL: 'http://localhost:3000' };
  const { stdout } = await user.run(['env', '--shell', 'dotenv'], { env });
  expect(parseEnv(stdout).OPENAI_API_KEY).toBe(key);
});

it('dotenv rejects a value that its readers would change', async () => {
  const { code, stdout, stderr } = await user.run(['env', '--shell', 'dotenv'], { env: environment('a\nb') });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/cannot be written to a .env file; use --shell json/);
});

it('powershell doubles quotes', async () => {
  expect(await print('powershell', "it's ’so’ $x")).toContain("$env:OPENAI_API_KEY = 'it''s ’’so’’ $x'\n");
});

it.each([
  ['/usr/bin/fish', 'set -gx OPENAI_API_KEY'],
  ['/bin/zsh', 'export OPENAI_API_KEY='],
  ['/usr/bin/pwsh', '$env:OPENAI_API_KEY = '],
  ['/bin/sh', 'export OPENAI_API_KEY='],
  [undefined, 'export OPENAI_API_KEY='],
])('the default for SHELL=%s begins with %s', async (SHELL, expected) => {
  const { stdout } = await user.run(['env'], { env: { ...environment('k'), SHELL } });
  expect(stdout).toContain(expected);
});

describeWith(BASH, 'completion in bash', () => {
  const complete = async (...words: string[]): Promise<string[]> => {
    const { stdout: script } = await user.run(['completion', 'bash']);
    const list = words.map((word) => `'${word}'`).join(' ');
    const test = `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _mintkeep; echo "\${COMPREPLY[*]}"`;
    const { stdout } = await run('bash', ['--norc', '-c', `${script}\n${test}`]);
    return stdout.trim().split(' ');
  };

  it('offers commands, options and values', async () => {
    expect(await complete('mintkeep', 'log')).toEqual(['login', 'logout']);
    expect(await complete('mintkeep', 'env', '--shell', 'p')).toEqual(['powershell']);
    expect(await complete('mintkeep', 'chat', '--s')).toEqual(['--system', '--stats']);
    expect(await complete('mintkeep', 'completion', '')).toEqual(
      expect.arrayContaining(['bash', 'zsh', 'fish']),
    );
  });

  it('completes the command of run', async () => {
    expect(await complete('mintkeep', 'run', 'bas')).toContain('bash');
  });
});

describeWith(ZSH, 'completion in zsh', () => {
  it('is valid', async () => {
    const { stdout } = await user.run(['completion', 'zsh']);
    await run('zsh', ['-f', '-c', `autoload -U compinit; compinit -D; ${stdout}`], {
      env: { HOME: user.home },
    });
  });
});

describeWith(FISH, 'completion in fish', () => {
  it('offers commands', async () => {
    const { stdout: script } = await user.run(['completion', 'fish']);
    const { stdout } = await run('fish', ['--no-config', '-c', `${script}\ncomplete -C 'mintkeep log'`]);
    expect(stdout).toMatch(/^login\t/m);
  });
});
