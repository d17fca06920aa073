import { MalformedResponse } from './malformed-response.js';

export const LIMIT_BYTES = 65_536;
export const LIMIT_FIELDS = 200;
export const LIMIT_INFORMATIONAL = 10;

/**
 * Limits the headers of one response. Trailers and informational responses draw on the same budget, so that an upstream
 * cannot send headers forever.
 */
export class HeaderBudget {
  private bytes = 0;
  private fields = 0;
  private informational = 0;

  /** Restores the budget for the next response. */
  reset(): void {
    this.bytes = 0;
    this.fields = 0;
    this.informational = 0;
  }

  /** Checks a header section whose end has not arrived. @throws MalformedResponse */
  checkBytes(count: number): void {
    if (this.bytes + count > LIMIT_BYTES) throw new MalformedResponse();
  }

  /** @throws MalformedResponse */
  takeBytes(count: number): void {
    this.bytes += count;
    this.checkBytes(0);
  }

  /** @throws MalformedResponse */
  takeField(): void {
    if (++this.fields > LIMIT_FIELDS) throw new MalformedResponse();
  }

  /** @throws MalformedResponse */
  takeInformational(): void {
    if (++this.informational > LIMIT_INFORMATIONAL) throw new MalformedResponse();
  }
}
