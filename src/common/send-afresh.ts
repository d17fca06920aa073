import type { Response } from 'express';

/** Sends what is made anew each time. Express' `send` would give it an ETag, and answer conditions with 304. */
export function sendAfresh(response: Response, text: string): void {
  const bytes = Buffer.from(text);
  response.set({ 'Content-Length': String(bytes.length) });
  response.end(bytes);
}
