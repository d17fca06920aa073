import { MemoryBacklog } from './memory-backlog.js';

const MIB = 1_048_576;

const backlogOf = (...lines: string[]): MemoryBacklog => {
  const backlog = new MemoryBacklog();
  for (const line of lines) backlog.add(Buffer.from(line));
  return backlog;
};

it('holds 32 MiB, and rejects more until there is room', async () => {
  const backlog = new MemoryBacklog();
  for (let i = 0; i < 32; i++) expect(backlog.add(Buffer.alloc(MIB))).toBe(true);
  expect(backlog.add(Buffer.from('x'))).toBe(false);
  expect([backlog.records, backlog.size]).toEqual([32, 32 * MIB]);
  await (await backlog.read())!.commit();
  expect(backlog.add(Buffer.from('x'))).toBe(true);
});

it('loses nothing when its records are moved while they are written', async () => {
  const backlog = backlogOf('a', 'b');
  const batch = (await backlog.read())!;
  const moved: string[] = [];
  backlog.moveTo((lines) => moved.push(lines));
  backlog.add(Buffer.from('c'));
  await batch.commit();
  expect([moved, batch.text.toString(), backlog.records]).toEqual([['a\nb\n'], 'a\nb', 1]);
});

it('keeps what cannot be moved', () => {
  const backlog = backlogOf('a', 'b');
  const fail = () => {
    throw new Error('no space');
  };
  expect(() => backlog.moveTo(fail)).toThrow('no space');
  expect([backlog.records, backlog.size]).toEqual([2, 2]);
});
