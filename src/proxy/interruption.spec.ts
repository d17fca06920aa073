import fc from 'fast-check';
import { splitAt, cuts } from '../../test/support/splits.js';
import { SequenceNumbers } from './interruption.js';

it('counts on from the last event, however the stream is cut', () => {
  const event = fc.tuple(fc.nat(1e6), fc.constantFrom('', ' ')).map(([number, space]) => ({
    number,
    text: `data: {"type":"x","sequence_number"${space}:${space}${number},"delta":"ü"}\n\n`,
  }));
  fc.assert(
    fc.property(fc.array(event, { minLength: 1 }), cuts, (events, places) => {
      const numbers = new SequenceNumbers();
      const bytes = Buffer.from(events.map(({ text }) => text).join(''));
      for (const piece of splitAt(bytes, places)) numbers.passed(piece);
      expect(numbers.next).toBe(events.at(-1)!.number + 1);
    }),
  );
});

it('begins with 0', () => expect(new SequenceNumbers().next).toBe(0));
