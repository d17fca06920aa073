import { spreadEvenly } from './mixes.js';

const KEYS = ['a', 'b', 'c', 'd'].map((key) => Buffer.from(key));

describe('spreadEvenly', () => {
  it.each([[[1]], [[1, 2]], [[1, 2, 3, 4]]])('sends every key to each of the replicas %j once', (ports) => {
    const sent = spreadEvenly(KEYS, ports).map(({ port, request }) => `${request.toString()}${port}`);
    expect(new Set(sent).size).toBe(KEYS.length * ports.length);
    expect(sent).toHaveLength(KEYS.length * ports.length);
  });

  it('lets the replicas take turns', () => {
    const ports = spreadEvenly(KEYS, [1, 2]).map(({ port }) => port);
    expect(ports.slice(0, KEYS.length)).toEqual([1, 2, 1, 2]);
  });
});
