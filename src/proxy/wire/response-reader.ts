import { parseResponseHeaders } from './response-headers.js';
import type { ResponseHeaders } from './response-headers.js';
import { ChunkCoalescer } from './chunk-coalescer.js';
import { ChunkReader } from './chunk-reader.js';
import { HeaderBytes } from './header-bytes.js';
import { HeaderBudget } from './header-budget.js';
import { MalformedResponse } from './malformed-response.js';

const enum Expects {
  nothing,
  headers,
  counted,
  untilClose,
  chunked,
}

/**
 * Reads the responses on a connection, one after the other (RFC 9112). Delivers body bytes at the end of the socket
 * read in which they arrive, independent of their chunks. Rejects every ambiguous response as malformed.
 */
export class ResponseReader {
  private expects = Expects.nothing;
  private isHeadRequest = false;
  /** Whether an informational response preceded the expected one. */
  private hasInformational = false;
  /** Bytes of a body with a known length that have not arrived. */
  private bytesLeft = 0;
  private readonly budget = new HeaderBudget();
  private readonly headerBytes = new HeaderBytes(this.budget);
  private readonly coalescer: ChunkCoalescer;
  private readonly chunkReader: ChunkReader;

  constructor(private readonly sink: ResponseSink) {
    this.coalescer = new ChunkCoalescer((bytes) => sink.onData(bytes));
    this.chunkReader = new ChunkReader(this.coalescer, this.budget);
  }

  /** Whether a part of an incomplete response has arrived. */
  get hasPartialResponse(): boolean {
    return this.expects > Expects.headers || !this.headerBytes.isEmpty || this.hasInformational;
  }

  /** @param method method of the request */
  expectResponse(method: string): void {
    this.expects = Expects.headers;
    this.isHeadRequest = method === 'HEAD';
    this.headerBytes.clear();
    this.budget.reset();
    this.hasInformational = false;
  }

  /** @throws MalformedResponse also for bytes that follow no request */
  read(bytes: Buffer): void {
    try {
      for (let at = 0; at < bytes.length;) at = this.step(bytes, at);
    } finally {
      this.coalescer.flush(); // bytes before a malformed part are delivered, too
    }
  }

  /** Ends the input. @returns whether this completes the response */
  endInput(): boolean {
    if (this.expects !== Expects.untilClose) return false;
    this.complete();
    return true;
  }

  /** @returns the index of the first byte that was not read */
  private step(bytes: Buffer, at: number): number {
    switch (this.expects) {
      case Expects.headers:
        return this.readHeaders(bytes, at);
      case Expects.counted:
        return this.readCounted(bytes, at);
      case Expects.untilClose:
        this.coalescer.add(bytes, at, bytes.length);
        return bytes.length;
      case Expects.chunked:
        return this.readChunks(bytes, at);
      default:
        throw new MalformedResponse();
    }
  }

  private readHeaders(bytes: Buffer, at: number): number {
    const text = this.headerBytes.read(bytes, at);
    if (text === undefined) return bytes.length;
    const headers = parseResponseHeaders(text, this.isHeadRequest, this.budget);
    if (headers.status === 101) throw new MalformedResponse(); // mintkeep never requests an upgrade
    if (headers.status >= 200) this.beginBody(headers);
    else {
      this.budget.takeInformational();
      this.hasInformational = true;
    }
    return this.headerBytes.end;
  }

  private beginBody(headers: ResponseHeaders): void {
    const { framing } = headers;
    if (framing === 'chunked') {
      this.expects = Expects.chunked;
      this.chunkReader.begin();
    } else if (framing === 'close') this.expects = Expects.untilClose;
    else {
      this.expects = Expects.counted;
      this.bytesLeft = framing;
    }
    this.sink.onResponseHeaders(headers);
    if (framing === 0) this.complete();
  }

  private readCounted(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.bytesLeft);
    this.bytesLeft -= end - at;
    this.coalescer.add(bytes, at, end);
    if (this.bytesLeft === 0) this.complete();
    return end;
  }

  private readChunks(bytes: Buffer, at: number): number {
    const end = this.chunkReader.read(bytes, at);
    if (this.chunkReader.isComplete) this.complete();
    return end;
  }

  private complete(): void {
    this.coalescer.flush();
    this.expects = Expects.nothing;
    this.sink.onEnd();
  }
}

/** Receives a response while it is read. */
export interface ResponseSink {
  /** Receives the headers of the final response; informational (1xx) responses are skipped. */
  onResponseHeaders(headers: ResponseHeaders): void;
  /** @param chunk valid until this returns, because the next read reuses the memory */
  onData(chunk: Buffer): void;
  onEnd(): void;
}
