import { jest } from '@jest/globals';
import { onStopSignals } from './stop-signals.js';

const stop = jest.fn();
const exit = jest.spyOn(process, 'exit').mockImplementation(() => undefined as never);

beforeEach(() => {
  jest.useFakeTimers();
  jest.clearAllMocks();
  onStopSignals(stop);
});
afterEach(() => {
  jest.useRealTimers();
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
});

it('ignores a repeated signal', () => {
  process.emit('SIGINT');
  jest.advanceTimersByTime(400);
  process.emit('SIGINT');
  expect(stop).toHaveBeenCalled();
  expect(exit).not.toHaveBeenCalled();
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('ends at once on a second signal %s', (signal, code) => {
  process.emit('SIGTERM');
  jest.advanceTimersByTime(600);
  process.emit(signal);
  expect(exit).toHaveBeenCalledWith(code);
});
