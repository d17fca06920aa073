import { isKeySecret } from '../keys/key-format.js';
import { credentialHeader } from '../upstreams/provider.js';
import { targetUrl } from '../upstreams/target-url.js';
import type { PoolUpstream } from '../upstreams/upstreams.service.js';
import { LOOP_HEADER, LOOP_ID } from './loops.js';
import type { RequestFields } from './request-fields.js';
import type { WireRequest } from './upstream-connection.js';

/** Where a request goes at one upstream, and under which key. Not to be logged. */
export interface Target {
  readonly id: number;
  readonly name: string;
  readonly provider: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** `Host` and the credential, each with its line end. */
  readonly ownLines: string;
}

/** Only who has a key of ours can lead a request back to us, or to another of our kind. */
const loopMark = `${LOOP_HEADER}: ${LOOP_ID}\r\n`;

const KNOWN_TARGETS = 100;
/** Few paths are asked for again and again. Goes with the upstream, whose key may be another one afterwards. */
const known = new WeakMap<PoolUpstream, Map<string, Target | undefined>>();

/** @returns undefined for a path that leads to no upstream, or out of its base URL */
export function targetAt(upstream: PoolUpstream, requestTarget: string): Target | undefined {
  const targets = known.get(upstream) ?? new Map<string, Target | undefined>();
  if (targets.size === 0) known.set(upstream, targets);
  const made = targets.get(requestTarget);
  if (made) return made;
  const target = makeTarget(upstream, requestTarget);
  if (targets.size < KNOWN_TARGETS) targets.set(requestTarget, target);
  return target;
}

function makeTarget(upstream: PoolUpstream, requestTarget: string): Target | undefined {
  const { id, name, provider, baseUrl, apiKey } = upstream;
  const url = targetUrl(baseUrl, requestTarget);
  if (!url) return undefined;
  const { origin, path } = url;
  const host = origin.slice(origin.indexOf('//') + 2);
  const [[header, value] = ['', '']] = Object.entries(credentialHeader(provider, apiKey));
  const ownLines = `host: ${host}\r\n${header}: ${value}\r\n${isKeySecret(apiKey) ? loopMark : ''}`;
  return { id, name, provider, origin, path, ownLines };
}

/** Mistral and OpenRouter tell the usage of every stream; Mistral refuses to be asked for it (422, `extra_forbidden`). */
const TELL_UNASKED = new Set(['mistral', 'openrouter']);

/** Whether this upstream is asked for usage in the client's stead. */
export function asksForUsage({ provider }: Target, { bodyForUsage }: RequestFields): boolean {
  return bodyForUsage !== undefined && !TELL_UNASKED.has(provider);
}

/** The body for this upstream. */
export function bodyFor(target: Target, fields: RequestFields): Buffer {
  return asksForUsage(target, fields) ? fields.bodyForUsage! : fields.body;
}

const BODILESS_METHODS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/** @param lines the headers that are the client's */
export function wireRequest(target: Target, method: string, lines: string, body: Buffer): WireRequest {
  const saysLength = body.length > 0 || !BODILESS_METHODS.has(method);
  const length = saysLength ? `content-length: ${body.length}\r\n` : '';
  return {
    method,
    head: `${method} ${target.path} HTTP/1.1\r\n${target.ownLines}${lines}${length}\r\n`,
    body,
  };
}
