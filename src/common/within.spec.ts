import { jest } from '@jest/globals';
import { within } from './within.js';

const never = new Promise<never>(() => undefined);

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('comes to what the work comes to', async () => {
  await expect(within(1_000, Promise.resolve('done'))).resolves.toBe('done');
  await expect(within(1_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

it('waits for the work no longer than it is to', async () => {
  const outcome = within(1_000, never).catch(({ message }: Error) => message);
  jest.advanceTimersByTime(999);
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(1);
  expect(await outcome).toBe('not done within 1000 ms');
});

it('leaves no timer behind', async () => {
  await within(1_000, Promise.resolve());
  expect(jest.getTimerCount()).toBe(0);
});
