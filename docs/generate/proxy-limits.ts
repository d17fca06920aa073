import { FIRST_EVENT_LIMIT_MS } from '../../src/proxy/exchange/attempt.js';
import { MAX_ATTEMPTS, NAME_CODE_POINTS } from '../../src/proxy/exchange/usage-record.js';
import { LINE_LIMIT_BYTES } from '../../src/proxy/metering/stream-meter.js';
import { MIN_BYTES_PER_TICK, TICK_MS, WINDOW_TICKS } from '../../src/proxy/request/body/body-pace.js';
import { LARGE_BODY_BYTES } from '../../src/proxy/request/body/held-body.js';
import { MAX_LIST_BYTES } from '../../src/proxy/models/model-list-request.js';
import {
  LIST_TIMEOUT_MS,
  MAX_CONCURRENT_LISTS,
  MAX_LISTED_UPSTREAMS,
  WAIT_TIMEOUT_MS,
} from '../../src/proxy/models/model-list.js';
import { MAX_TRIED_UPSTREAMS } from '../../src/proxy/exchange/exchange.js';
import { MAX_LIST_PASSES, MAX_PASSES } from '../../src/proxy/request/loop-detection.js';
import { CLOSE_TIMEOUT_MS, MESSAGE_LIMIT_BYTES } from '../../src/proxy/websocket/client-socket.js';
import { LIMIT_BYTES, LIMIT_FIELDS, LIMIT_INFORMATIONAL } from '../../src/proxy/wire/header-budget.js';
import { FAILURE_TTL_MS, SLOW_MS } from '../../src/upstreams/name-resolution/host-resolver.js';
import { bytes, count, seconds } from './format.js';
import type { Limit } from './limits.js';

export const PROXY_LIMITS: readonly Limit[] = [
  {
    limit: 'upstreams that one request tries',
    value: count(MAX_TRIED_UPSTREAMS),
    beyond: 'the last response is passed on',
  },
  {
    limit: 'size from which a body takes memory from `PROXY_BODY_MEMORY`',
    value: bytes(LARGE_BODY_BYTES),
    beyond: 'the body may have to wait unread',
  },
  {
    limit: `slowest body after its first ${bytes(LARGE_BODY_BYTES)}, in any window of ${seconds(WINDOW_TICKS * TICK_MS)}`,
    value: `${bytes((MIN_BYTES_PER_TICK * 1_000) / TICK_MS)}/s`,
    beyond: '408 `request_timeout`',
  },
  {
    limit: 'response headers of an upstream, trailers included',
    value: `${bytes(LIMIT_BYTES)}, ${count(LIMIT_FIELDS)} fields`,
    beyond: 'the attempt fails',
  },
  {
    limit: 'informational responses of an upstream',
    value: count(LIMIT_INFORMATIONAL),
    beyond: 'the attempt fails',
  },
  {
    limit: 'time for which a stream is held back until its first event',
    value: seconds(FIRST_EVENT_LIMIT_MS),
    beyond: 'the stream is passed on',
  },
  {
    limit: 'line of an event stream that is read for usage',
    value: bytes(LINE_LIMIT_BYTES),
    beyond: 'the line is passed on unread',
  },
  {
    limit: 'upstreams asked for a model list',
    value: count(MAX_LISTED_UPSTREAMS),
    beyond: 'further upstreams are not asked',
  },
  {
    limit: 'model list of one upstream',
    value: `${bytes(MAX_LIST_BYTES)}, ${seconds(LIST_TIMEOUT_MS)}`,
    beyond: 'the list is left out',
  },
  {
    limit: 'concurrent model lists of an organization on a replica',
    value: `${count(MAX_CONCURRENT_LISTS)}; others wait for ${seconds(WAIT_TIMEOUT_MS)}`,
    beyond: '429 `rate_limited`',
  },
  {
    limit: 'mintkeep instances that a request passes',
    value: `${count(MAX_PASSES)}; \`GET /v1/models\`: ${count(MAX_LIST_PASSES)}`,
    beyond: '400 `loop_detected`',
  },
  {
    limit: 'message of a WebSocket',
    value: bytes(MESSAGE_LIMIT_BYTES),
    beyond: 'the connection is closed with 1009',
  },
  {
    limit: 'time for the closing handshake of a WebSocket',
    value: seconds(CLOSE_TIMEOUT_MS),
    beyond: 'the connection is cut',
  },
  {
    limit: 'look-ups of host names by an organization that take longer than ' + seconds(SLOW_MS),
    value: '1 at a time',
    beyond: 'further slow look-ups fail',
  },
  {
    limit: 'time for which a failed look-up is remembered',
    value: seconds(FAILURE_TTL_MS),
    beyond: 'the name is looked up again',
  },
  {
    limit: 'attempts in a usage record, and the length of their names',
    value: `${count(MAX_ATTEMPTS)}, ${count(NAME_CODE_POINTS)} code points`,
    beyond: 'the rest is left out',
  },
];
