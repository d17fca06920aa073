import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI, codeAfter, CliUser } from '../support/cli.js';
import type { CliProcess } from '../support/cli.js';
import { eventually } from '../support/eventually.js';

const ENV = { MINTKEEP_URL: 'http://localhost:3000', MINTKEEP_API_KEY: 'the-key' };

/** Prints each signal that it receives, and ends with 7 after a line of input. */
const LISTENER = `
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'])
    process.on(name, () => console.log('got ' + name));
  process.stdin.on('data', () => process.exit(7));
  console.log('ready ' + process.pid);
`;

let user: CliUser;
let folder: string;

beforeEach(async () => {
  user = await CliUser.create();
  folder = await mkdtemp(join(tmpdir(), 'mintkeep-run-'));
  await writeFile(join(folder, 'listener.cjs'), LISTENER);
});
afterEach(() => rm(folder, { recursive: true }));

const run = (words: string[], input?: string) => user.run(['run', ...words], { env: ENV, input });
const occurrences = ({ stdout }: CliProcess, text: string) => stdout().split(text).length - 1;

/** Whether a process has yet to receive a signal that was sent (proc_pid_status(5)). */
async function hasPendingSignals(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return /^(?:SigPnd|ShdPnd):\s*0*[1-9a-f]/m.test(status);
}

async function startListener(isInTerminal = false): Promise<CliProcess & { pid: number }> {
  const words = ['run', '--', process.execPath, join(folder, 'listener.cjs')];
  const started = isInTerminal
    ? user.startInTerminal(words, ENV)
    : user.start(words, { env: ENV, input: null });
  const pid = await eventually(() => Number(/ready (\d+)/.exec(started.stdout())![1]));
  return { ...started, pid };
}

it('sets the variables, and passes arguments, streams and the exit code', async () => {
  const script = `
    process.stdin.pipe(process.stdout);
    console.error(JSON.stringify([process.argv.slice(1), process.env.OPENAI_BASE_URL, process.env.OPENAI_API_KEY,
      process.env.ANTHROPIC_BASE_URL, process.env.ANTHROPIC_AUTH_TOKEN, process.env.MINTKEEP_URL]));
    process.exitCode = 3`;
  const args = ['--json', '-h', '--profile', 'x', '', 'a b', "it's $HOME"];
  for (const separator of [[], ['--']]) {
    const result = await run([...separator, process.execPath, '-e', script, '--', ...args], 'the input');
    expect([result.code, result.stdout]).toEqual([3, 'the input']);
    expect(JSON.parse(result.stderr)).toEqual([
      args,
      'http://localhost:3000/v1',
      'the-key',
      'http://localhost:3000',
      'the-key',
      'http://localhost:3000',
    ]);
  }
});

it('a client below it has the same login', async () => {
  const insecure = { MINTKEEP_URL: 'http://mintkeep.example', MINTKEEP_API_KEY: 'the-key' };
  await mkdir(user.folder, { recursive: true });
  const profile = {
    server: insecure.MINTKEEP_URL,
    key: 'the-key',
    account: null,
    owner: null,
    insecure: true,
  };
  await writeFile(user.file, JSON.stringify({ version: 1, profiles: { lan: profile } }), { mode: 0o600 });
  const nested = ['run', '--profile', 'lan', process.execPath, CLI, 'token'];
  expect(await user.run(nested)).toEqual({ code: 0, stdout: 'the-key\n', stderr: '' });
  const inEnvironment = { env: { ...insecure, MINTKEEP_INSECURE: '1' } };
  expect((await user.run(['run', process.execPath, CLI, 'token'], inEnvironment)).stdout).toBe('the-key\n');
});

it('the key is in no argument list', async () => {
  const script = `ps -o args= -p $PPID -p $$`;
  const { stdout } = await run(['sh', '-c', `${script}; :`]);
  expect(stdout).toContain('mintkeep.js run');
  expect(stdout).not.toContain('the-key');
});

it('exits with 127 if the command is not found, and with 126 if it is not executable', async () => {
  const file = join(folder, 'not-executable');
  await writeFile(file, 'x');
  await chmod(file, 0o644);
  const missing = await run(['no-such-command-anywhere']);
  expect(missing).toEqual({
    code: 127,
    stdout: '',
    stderr: 'mintkeep: the command no-such-command-anywhere was not found; check its name and PATH\n',
  });
  expect((await run([join(folder, 'missing')])).code).toBe(127);
  const empty = await run(['']);
  expect([empty.code, empty.stderr]).toEqual([
    127,
    expect.stringContaining("the command '' was not found; "),
  ]);
  const denied = await run([file]);
  expect([denied.code, denied.stderr]).toEqual([126, expect.stringContaining('cannot be run (EACCES)')]);
  expect((await run([folder])).code).toBe(126);
});

it.each(['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGSEGV'] as const)(
  'exits with 128 + n after %s',
  async (signal) => {
    const { code, stderr } = await run(['sh', '-c', `kill -${signal.slice(3)} $$`]);
    expect([code, stderr]).toEqual([codeAfter(signal), '']);
  },
);

it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const)(
  'delivers %s once, whether the client or its whole group receives it',
  async (signal) => {
    const listener = await startListener();
    process.kill(listener.child.pid!, signal);
    await eventually(() => expect(occurrences(listener, `got ${signal}`)).toBe(1));
    process.kill(-listener.child.pid!, signal); // the group of the client and the command
    await eventually(() => expect(occurrences(listener, `got ${signal}`)).toBeGreaterThan(1));
    // A signal that is sent while an equal one is pending is lost (signal(7)).
    await eventually(async () => expect(await hasPendingSignals(listener.child.pid!)).toBe(false));
    process.kill(listener.child.pid!, signal);
    await eventually(() => expect(occurrences(listener, `got ${signal}`)).toBeGreaterThan(2));
    listener.child.stdin!.write('\n');
    expect((await listener.result).code).toBe(7);
    expect(occurrences(listener, `got ${signal}`)).toBe(3);
  },
);

it('Ctrl-C and Ctrl-\\ in a terminal reach the command once', async () => {
  const listener = await startListener(true);
  listener.child.stdin!.write('\u0003');
  await eventually(() => expect(occurrences(listener, 'got SIGINT')).toBe(1));
  listener.child.stdin!.write('\u001c');
  await eventually(() => expect(occurrences(listener, 'got SIGQUIT')).toBe(1));
  listener.child.stdin!.write('\n');
  expect((await listener.result).code).toBe(7);
  expect([occurrences(listener, 'got SIGINT'), occurrences(listener, 'got SIGQUIT')]).toEqual([1, 1]);
});

it('the command has the terminal', async () => {
  const script = 'test -t 0 && test -t 1 && test -t 2 && echo all-terminals';
  const { code, stdout } = await user.startInTerminal(['run', 'sh', '-c', script], ENV).result;
  expect([code, stdout]).toEqual([0, expect.stringContaining('all-terminals')]);
});

it('leaves no process behind', async () => {
  const listener = await startListener();
  listener.child.stdin!.end('\n');
  await listener.result;
  await eventually(() => expect(() => process.kill(-listener.child.pid!, 0)).toThrow('ESRCH'));
});
