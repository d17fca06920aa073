import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** Runs code with a logger in a new process, and returns its output. */
async function written(script: string): Promise<Record<string, unknown>[]> {
  const program = `
    import { QueryFailedError } from 'typeorm';
    import { JsonLogger } from './dist/common/logging/logger.js';
    const logger = new JsonLogger('info');
    ${script}
    process.exit(0);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(errors).toBe('');
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('writes every line before the process exits', async () => {
  const lines = await written('for (let i = 0; i < 500; i++) logger.log({ i }, "counted", "Test");');
  // The last lines may overtake a write that is in progress when the process exits.
  const numbers = lines.map(({ i }) => i as number).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 500 }, (_, i) => i));
  expect(lines[0]).toMatchObject({ context: 'Test', msg: 'counted', time: expect.stringMatching(/Z$/) });
});

it('redacts secrets', async () => {
  const [line] = await written(`logger.warn({
    token: 'T0P', headers: { authorization: 'Bearer T0P', cookie: 'a=T0P' }, api_key: 'T0P', content: 'T0P',
  }, 'oops', 'Test');`);
  expect(JSON.stringify(line)).not.toContain('T0P');
  expect(line).toMatchObject({ token: '[redacted]', msg: 'oops' });
});

it('logs type, message and statement of an error, but no values', async () => {
  const [line] = await written(`
    const cause = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (title)=(T0P) exists' });
    const err = new QueryFailedError('INSERT INTO t VALUES ($1)', ['T0P'], cause);
    const outer = new Error('not stored', { cause: Object.assign(err, { request: { headers: 'T0P' } }) });
    logger.error({ err: outer }, 'unexpected failure', 'Test');`);
  expect(JSON.stringify(line)).not.toContain('T0P');
  expect(line).toMatchObject({
    err: {
      type: 'Error',
      message: 'not stored',
      cause: { type: 'QueryFailedError', code: '23505', query: 'INSERT INTO t VALUES ($1)' },
    },
  });
});

it('logs thrown values that are not errors', async () => {
  const [line] = await written(`logger.error({ err: 'T0P' }, 'unexpected failure', 'Test');`);
  expect(line).toMatchObject({ err: { type: 'string' }, msg: 'unexpected failure' });
});
