import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import type { HttpResponse } from '../../http/http-exchange.js';
import type { Settings } from '../../config/settings.js';
import { RequestsInFlight } from './requests-in-flight.js';

const createLimit = (proxyRequestsInFlight: number) =>
  new RequestsInFlight({ proxyRequestsInFlight } as Settings);
const newResponse = () => new EventEmitter() as unknown as HttpResponse;

it('counts the requests of each organization until their responses close', () => {
  const step = fc.record({ organization: fc.nat(3), closes: fc.option(fc.nat()) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), (limit, steps) => {
      const inFlight = createLimit(limit);
      const open: { organization: number; response: HttpResponse }[] = [];
      for (const { organization, closes } of steps) {
        if (closes !== null && open.length > 0)
          open.splice(closes % open.length, 1)[0]!.response.emit('close');
        const response = newResponse();
        const running = open.filter((other) => other.organization === organization).length;
        expect(inFlight.tryAcquire(organization, response)).toBe(running < limit);
        if (running < limit) open.push({ organization, response });
      }
    }),
  );
});

it('keeps the counts of organizations with open requests when it removes idle ones', () => {
  const inFlight = createLimit(1);
  for (let id = 0; id < 5_000; id++) {
    const response = newResponse();
    expect(inFlight.tryAcquire(id, response)).toBe(true);
    if (id % 3 > 0) response.emit('close');
  }
  for (let id = 0; id < 5_000; id++) expect(inFlight.tryAcquire(id, newResponse())).toBe(id % 3 > 0);
});

it('admits any number of requests if the limit is 0', () => {
  const inFlight = createLimit(0);
  for (let i = 0; i < 2_000; i++) expect(inFlight.tryAcquire(1, newResponse())).toBe(true);
});
