import type { BodyBudget } from '../request/body/body-budget.js';
import { LARGE_BODY_BYTES } from '../request/body/held-body.js';
import type { HeldBody } from '../request/body/held-body.js';
import { MESSAGE_LIMIT_BYTES } from './client-socket.js';
import type { RelayPeer } from './relay-peer.js';

/**
 * Charges messages above 1 MiB to the memory for bodies, from their arrival until they are sent. While there is no room,
 * the peer is not read.
 */
export class MessageMemory {
  /** Bytes that arrived since the last complete message. */
  private arrivedBytes = 0;
  private held?: HeldBody = undefined;

  /**
   * @param ownerId id of the organization that the memory is charged to
   * @param onTooSlow called if a large message arrives too slowly
   */
  constructor(
    private readonly peer: RelayPeer,
    private readonly budget: BodyBudget,
    private readonly ownerId: number,
    private readonly onTooSlow: () => void,
  ) {
    peer.raw.prependListener('data', (chunk: Buffer) => this.onData(chunk.length));
    peer.socket.once('close', () => this.take()());
  }

  /** Ends the counting of a message that is complete. @returns frees the memory of the message */
  take(): () => void {
    const { held } = this;
    this.held = undefined;
    this.arrivedBytes = 0;
    held?.onEnd();
    return () => held?.release();
  }

  private onData(bytes: number): void {
    this.arrivedBytes += bytes;
    if (this.held) this.held.onData(bytes);
    else if (this.arrivedBytes > LARGE_BODY_BYTES) this.hold();
  }

  private hold(): void {
    const { peer, arrivedBytes } = this;
    const reader = { pause: () => peer.pause('memory'), resume: () => peer.resume('memory') };
    const size = { wantedBytes: MESSAGE_LIMIT_BYTES, arrivedBytes };
    this.held = this.budget.hold(reader, this.ownerId, size, () => {
      this.take()();
      this.onTooSlow();
    });
  }
}
