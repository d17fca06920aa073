import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export type Family = 4 | 6;

/** A name server on the loopback interface (RFC 1035). */
export interface FakeNameServer {
  /** `127.0.0.1:port` */
  readonly address: string;
  /** Queried names with their families, oldest first. */
  readonly queries: string[];
  close(): Promise<void>;
}

/** Addresses; a response code, 3 for a name that does not exist; or silence. */
export type NameResponse = string[] | number | undefined;

const TYPES: Record<number, Family> = { 1: 4, 28: 6 };
const HEADER_BYTES = 12;

export async function startNameServer(
  respond: (name: string, family: Family) => NameResponse,
): Promise<FakeNameServer> {
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = readQuery(message);
    const family = TYPES[type]!;
    queries.push(`${name} ${family}`);
    const result = respond(name, family);
    if (result !== undefined) socket.send(response(message.subarray(0, end), type, result), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  const close = () => new Promise<void>((resolve) => socket.close(() => resolve()));
  return { address: `127.0.0.1:${port}`, queries, close };
}

function readQuery(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** @param query header and question section */
function response(query: Buffer, type: number, result: string[] | number): Buffer {
  const head = Buffer.from(query);
  const addresses = typeof result === 'number' ? [] : result;
  const code = typeof result === 'number' ? result : 0;
  head.writeUInt16BE(0x81_80 | code, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8); // neither authority nor additional records
  return Buffer.concat([head, ...addresses.map((address) => record(type, bytesOf(address)))]);
}

/** A pointer to the queried name, type, class IN, a TTL of a minute, and the address. */
function record(type: number, address: Buffer): Buffer {
  const fixed = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length]);
  return Buffer.concat([fixed, address]);
}

/** IPv6 addresses are written in full. */
function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  return Buffer.from(
    address
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
}
