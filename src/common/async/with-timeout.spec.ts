import { jest } from '@jest/globals';
import { withTimeout } from './with-timeout.js';

const never = new Promise<never>(() => undefined);

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('resolves or rejects like the work', async () => {
  await expect(withTimeout(1_000, Promise.resolve('done'))).resolves.toBe('done');
  await expect(withTimeout(1_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

it('rejects once the timeout has passed', async () => {
  const outcome = withTimeout(1_000, never).catch(({ message }: Error) => message);
  jest.advanceTimersByTime(999);
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(1);
  expect(await outcome).toBe('not done within 1000 ms');
});

it('rejects with the error of the caller', async () => {
  const outcome = withTimeout(1_000, never, () => new RangeError('too late')).catch(
    (error: unknown) => error,
  );
  jest.advanceTimersByTime(1_000);
  expect(await outcome).toEqual(new RangeError('too late'));
});

it('clears its timer', async () => {
  await withTimeout(1_000, Promise.resolve());
  expect(jest.getTimerCount()).toBe(0);
});
