import { Injectable } from '@nestjs/common';
import type { HttpRequest } from '../common/http-exchange.js';
import { Settings } from '../config/settings.js';

/** Smaller bodies neither wait nor count. */
export const LARGE_BODY_BYTES = 1_048_576;

/**
 * The memory for large bodies of requests, which are kept until an answer has begun, as other upstreams may have to be
 * tried. Where `PROXY_BODY_MEMORY` is used up, further ones wait for their turn: no more is read of them meanwhile. One
 * that is larger than all of it has it for itself.
 */
@Injectable()
export class BodyMemory {
  private readonly limitBytes: number;
  private takenBytes = 0;
  /** In the order in which they came. */
  private readonly waiting = new Set<HeldBody>();

  constructor({ proxyBodyMemoryBytes }: Settings) {
    this.limitBytes = proxyBodyMemoryBytes;
  }

  /**
   * Room for a body, of which no more is read until there is that much.
   * @returns to be released, in any case
   */
  reserve(request: HttpRequest, bytes: number): HeldBody {
    const body = new HeldBody(this, request, bytes);
    this.waiting.add(body);
    request.pause();
    this.admit();
    return body;
  }

  /** @internal */
  take(bytes: number): void {
    this.takenBytes += bytes;
  }

  /** @internal */
  giveBack(body: HeldBody, bytes: number): void {
    this.waiting.delete(body);
    this.takenBytes -= bytes;
    this.admit();
  }

  private admit(): void {
    for (const body of this.waiting) {
      const { bytesWanted } = body;
      if (this.takenBytes > 0 && this.takenBytes + bytesWanted > this.limitBytes) return;
      this.waiting.delete(body);
      body.take(bytesWanted);
      body.goOn();
    }
  }
}

/** What one request holds of it. */
export class HeldBody {
  private bytesTaken = 0;
  private isPaused = true;

  constructor(
    private readonly memory: BodyMemory,
    private readonly request: HttpRequest,
    readonly bytesWanted: number,
  ) {}

  /** So much more is kept for it, whether there is room or not. */
  take(bytes: number): void {
    this.bytesTaken += bytes;
    this.memory.take(bytes);
  }

  /** It is not needed any more, nor what may yet come of it. */
  release(): void {
    this.giveBack(this.bytesTaken);
    this.goOn();
  }

  /** All of it is here, and it is no longer than this. */
  shrinkTo(bytes: number): void {
    this.giveBack(this.bytesTaken - bytes);
  }

  /** @internal */
  goOn(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.request.resume();
  }

  private giveBack(bytes: number): void {
    this.bytesTaken -= bytes;
    this.memory.giveBack(this, bytes);
  }
}
