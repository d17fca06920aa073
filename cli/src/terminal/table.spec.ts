import { minutesAndSeconds } from './spinner.js';
import { bar, pairs, table } from './table.js';

it('aligns columns', () => {
  const columns = [
    { title: 'Model', value: ([name]: [string, number]) => name },
    { title: 'Requests', value: ([, count]: [string, number]) => String(count), isNumber: true },
  ];
  expect(
    table(columns, [
      ['gpt-4o', 12],
      ['a\u001b[31m', 3],
    ]),
  ).toBe(['Model   Requests', 'gpt-4o        12', 'a [31m         3'].join('\n'));
  expect(table(columns, [])).toBe('Model  Requests');
});

it('aligns pairs', () => {
  expect(
    pairs([
      ['Key', 'x'],
      ['Account', 'y'],
    ]),
  ).toBe('Key      x\nAccount  y');
});

it.each([
  [10, 10, '████'],
  [5, 10, '██'],
  [1, 10, '▍'],
  [0, 10, ''],
  [0, 0, ''],
])('the bar of %d of %d is %s', (value, largest, expected) => {
  expect(bar(value, largest, 4)).toBe(expected);
});

it.each([
  [600, '10:00'],
  [65.2, '1:06'],
  [0, '0:00'],
  [-3, '0:00'],
])('%d seconds are %s', (seconds, expected) => expect(minutesAndSeconds(seconds)).toBe(expected));
