import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** Close codes of RFC 6455, section 7.4.1. */
export const CloseCode = {
  NORMAL: 1_000,
  GOING_AWAY: 1_001,
  UNSUPPORTED_DATA: 1_003,
  NO_STATUS: 1_005,
  ABNORMAL: 1_006,
  POLICY_VIOLATION: 1_008,
  TRY_AGAIN_LATER: 1_013,
  BAD_GATEWAY: 1_014,
} as const;

/** Bytes that wait for a peer before the other peer is not read any more. */
const HIGH_WATER_BYTES = 1_048_576;
const LOW_WATER_BYTES = 262_144;
/** Messages that wait for a peer before the other peer is not read any more. Each one costs more memory than its bytes. */
export const HIGH_WATER_MESSAGES = 256;
const LOW_WATER_MESSAGES = 64;

/** Reason for which a peer is not read: the other peer is slow, its key is being verified, or memory is short. */
export type PauseReason = 'receiver' | 'verification' | 'memory';

/** Client or upstream of a relay. Its socket is read while there is no reason for a pause. */
export class RelayPeer {
  private readonly reasons = new Set<PauseReason>();
  /** Messages that were handed to the socket and are not sent. */
  private unsent = 0;
  private isClosing = false;

  /** @param raw connection of the WebSocket */
  constructor(
    readonly socket: WebSocket,
    readonly raw: Socket,
  ) {}

  isPausedFor(reason: PauseReason): boolean {
    return this.reasons.has(reason);
  }

  get isPaused(): boolean {
    return this.reasons.size > 0;
  }

  pause(reason: PauseReason): void {
    if (this.isClosing) return;
    this.reasons.add(reason);
    this.socket.pause();
  }

  resume(reason: PauseReason): void {
    if (this.reasons.delete(reason) && this.reasons.size === 0) this.socket.resume();
  }

  /**
   * Sends a message, and pauses its sender while this peer is slow.
   * @param onSent called when the message does not need memory any more
   */
  send(data: Buffer, binary: boolean, sender: RelayPeer, onSent: () => void): void {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) return onSent();
    this.unsent++;
    socket.send(data, { binary }, () => {
      this.unsent--;
      onSent();
      const isDrained = this.unsent <= LOW_WATER_MESSAGES && socket.bufferedAmount <= LOW_WATER_BYTES;
      if (isDrained) sender.resume('receiver');
    });
    if (this.unsent > HIGH_WATER_MESSAGES || socket.bufferedAmount > HIGH_WATER_BYTES)
      sender.pause('receiver');
  }

  /** Starts the closing handshake, and reads until it has ended. */
  close(code: number, reason: Buffer | string): void {
    this.isClosing = true;
    this.reasons.clear();
    this.socket.resume();
    if (code === CloseCode.NO_STATUS) this.socket.close();
    else this.socket.close(code, reason);
  }
}
