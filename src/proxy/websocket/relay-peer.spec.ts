import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Settings } from '../../config/settings.js';
import { BodyBudget } from '../request/body/body-budget.js';
import { MESSAGE_LIMIT_BYTES } from './client-socket.js';
import { MessageMemory } from './message-memory.js';
import { HIGH_WATER_MESSAGES, RelayPeer } from './relay-peer.js';
import { WebSocketRelay } from './web-socket-relay.js';

const MEBIBYTE = 1_048_576;

/** WebSocket that sends nothing until it is told to. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  readonly sent: string[] = [];
  isPaused = false;
  private readonly callbacks: (() => void)[] = [];

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  send(data: Buffer, _options: object, callback: () => void): void {
    this.sent.push(data.toString());
    this.callbacks.push(callback);
  }

  close(): void {
    this.emit('close', 1_000, Buffer.alloc(0));
  }

  flush(): void {
    for (const callback of this.callbacks.splice(0)) callback();
  }
}

function createPeer() {
  const socket = new FakeSocket();
  const raw = new EventEmitter();
  return { socket, raw, peer: new RelayPeer(socket as unknown as WebSocket, raw as unknown as Socket) };
}

const ignore = () => undefined;

it('pauses a sender when many small messages wait for the receiver', () => {
  const [from, to] = [createPeer(), createPeer()];
  for (let i = 0; i < HIGH_WATER_MESSAGES; i++) to.peer.send(Buffer.from('x'), false, from.peer, ignore);
  expect(from.socket.isPaused).toBe(false);
  to.peer.send(Buffer.from('x'), false, from.peer, ignore);
  expect(from.socket.isPaused).toBe(true);
  to.socket.flush();
  expect(from.socket.isPaused).toBe(false);
});

it('stays paused until no reason is left', () => {
  const { peer, socket } = createPeer();
  peer.pause('memory');
  peer.pause('verification');
  peer.resume('memory');
  expect(socket.isPaused).toBe(true);
  peer.resume('verification');
  expect(socket.isPaused).toBe(false);
});

it('passes messages that were read before a verification on after it', () => {
  const [client, upstream] = [createPeer(), createPeer()];
  const listener = { allows: () => true, onUpstreamText: ignore, onEnd: ignore };
  const memoryOf = () => ({ take: () => ignore }) as unknown as MessageMemory;
  const relay = new WebSocketRelay(client.peer, upstream.peer, listener, { heartbeatMs: 60_000, memoryOf });
  relay.pauseClient();
  expect(client.socket.isPaused).toBe(true);
  for (const text of ['a', 'b']) client.socket.emit('message', Buffer.from(text), false);
  expect(upstream.socket.sent).toEqual([]);
  relay.resumeClient();
  expect(upstream.socket.sent).toEqual(['a', 'b']);
  expect(client.socket.isPaused).toBe(false);
  client.socket.close(); // ends the heartbeat
});

describe('large messages', () => {
  const budget = () => new BodyBudget({ proxyBodyMemoryBytes: 4 * MESSAGE_LIMIT_BYTES } as Settings);
  const arrive = ({ raw }: ReturnType<typeof createPeer>, bytes: number) => {
    for (let at = 0; at < bytes; at += 65_536) raw.emit('data', Buffer.alloc(65_536));
  };

  it('wait for memory of their organization until others are sent', () => {
    const shared = budget();
    const peers = [createPeer(), createPeer(), createPeer()];
    const memories = peers.map(({ peer }) => new MessageMemory(peer, shared, 1, ignore));
    for (const each of peers) arrive(each, 2 * MEBIBYTE);
    expect(peers.map(({ socket }) => socket.isPaused)).toEqual([false, false, true]);
    const other = createPeer();
    new MessageMemory(other.peer, shared, 2, ignore);
    arrive(other, 2 * MEBIBYTE);
    expect(other.socket.isPaused).toBe(false);
    memories[0]!.take()();
    expect(peers[2]!.socket.isPaused).toBe(false);
    for (const { socket } of [...peers, other]) socket.emit('close');
  });

  it('are counted from the end of the message before', () => {
    const shared = budget();
    const peers = [createPeer(), createPeer(), createPeer()];
    const memories = peers.map(({ peer }) => new MessageMemory(peer, shared, 1, ignore));
    for (let i = 0; i < 10; i++) {
      for (const each of peers) arrive(each, MEBIBYTE / 2);
      for (const memory of memories) memory.take()();
    }
    expect(peers.some(({ socket }) => socket.isPaused)).toBe(false);
  });
});
