import fc from 'fast-check';
import { splitAt, cuts } from '../../../test/support/splits.js';
import { SequenceTracker } from './interruption-event.js';

it('continues the sequence of the last event, independent of how the stream is split', () => {
  const event = fc.tuple(fc.nat(1e6), fc.constantFrom('', ' ')).map(([number, space]) => ({
    number,
    text: `data: {"type":"x","sequence_number"${space}:${space}${number},"delta":"ü"}\n\n`,
  }));
  fc.assert(
    fc.property(fc.array(event, { minLength: 1 }), cuts, (events, places) => {
      const numbers = new SequenceTracker();
      const bytes = Buffer.from(events.map(({ text }) => text).join(''));
      for (const piece of splitAt(bytes, places)) numbers.onData(piece);
      expect(numbers.next).toBe(events.at(-1)!.number + 1);
    }),
  );
});

it('starts the sequence at 0', () => expect(new SequenceTracker().next).toBe(0));
