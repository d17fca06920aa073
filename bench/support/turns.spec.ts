import { jest } from '@jest/globals';
import type { Goal } from './goals.js';
import { judgeRounds } from './goals.js';
import { describeRounds, medianOfRounds, medianRatio, takeTurns } from './turns.js';

const GOAL: Goal = { figure: 'latency', direction: 'at most', limit: 2, unit: '× reference' };
const SUBJECTS = ['service', 'reference'] as const;
const identity = (value: number) => value;

beforeEach(() => jest.spyOn(console, 'error').mockImplementation(() => undefined));
afterEach(() => jest.restoreAllMocks());

describe('takeTurns', () => {
  it('lets another subject begin in each round', async () => {
    const order: string[] = [];
    await takeTurns(2, SUBJECTS, (name, round) => Promise.resolve(order.push(`${name} ${round}`)));
    expect(order).toEqual(['service 0', 'reference 0', 'reference 1', 'service 1']);
  });

  it('goes on after a failed turn and compares only rounds with both subjects', async () => {
    const { rounds, failures } = await takeTurns(3, SUBJECTS, (name, round) => {
      if (name === 'reference') return Promise.resolve(1);
      return round === 1 ? Promise.reject(new Error('500 requests/s not held')) : Promise.resolve(3);
    });
    expect(failures).toEqual(['service, round 2: 500 requests/s not held']);
    expect(describeRounds(rounds.service)).toBe('2 of 3');
    expect(medianRatio(rounds.service, rounds.reference, identity)).toBe(3);
  });
});

describe('judgeRounds', () => {
  it.each([
    [[3, 5], 'missed', '4 × reference'],
    [[1, 2], 'met', '1.50 × reference'],
  ])('judges the rounds %j as %s', (service, verdict, measured) => {
    const value = medianRatio(service, [1, 1], identity);
    expect(judgeRounds(GOAL, value, service, [[1, 1]])).toMatchObject({ verdict, measured });
  });

  it.each([
    ['missed', 'only the service failed', [undefined], [1]],
    ['not measured', 'the reference failed', [1], [undefined]],
    ['not measured', 'both failed', [undefined], [undefined]],
    ['not measured', 'no round has both', [1, undefined], [undefined, 1]],
  ])('marks a goal as %s if %s', (verdict, _, service, reference) => {
    const value = medianRatio<number>(service, reference, identity);
    expect(judgeRounds(GOAL, value, service, [reference]).verdict).toBe(verdict);
  });

  it('has no median without a successful turn', () => {
    expect(medianOfRounds<number>([undefined], identity)).toBeNaN();
  });
});
