import { useRef, useState } from 'react';
import { ApiError } from '../api/errors';
import type { TokenUsage } from './event-stream';
import { streamChat } from './proxy-client';

/** Response so far, and its figures. */
export interface ChatState {
  readonly isRunning: boolean;
  readonly text: string;
  readonly usage?: TokenUsage;
  readonly firstTokenMs?: number;
  readonly totalMs?: number;
  /** Id under which the request is recorded. */
  readonly requestId?: string;
  readonly error?: unknown;
}

const IDLE: ChatState = { isRunning: false, text: '' };

/** Sends one prompt at a time. */
export function useChat(owner: number): {
  state: ChatState;
  send: (model: string, prompt: string) => void;
  stop: () => void;
} {
  const [state, setState] = useState<ChatState>(IDLE);
  const controller = useRef<AbortController>(null);
  const send = (model: string, prompt: string) => {
    controller.current?.abort();
    controller.current = new AbortController();
    void run(owner, model, prompt, controller.current.signal, setState);
  };
  return { state, send, stop: () => controller.current?.abort() };
}

async function run(
  owner: number,
  model: string,
  prompt: string,
  signal: AbortSignal,
  setState: (state: ChatState) => void,
): Promise<void> {
  const start = performance.now();
  let state: ChatState = { isRunning: true, text: '' };
  setState(state);
  const onRequestId = (id: string | null) => {
    if (id !== null) state = { ...state, requestId: id };
  };
  try {
    for await (const { text, usage, error } of streamChat(owner, model, prompt, signal, onRequestId)) {
      const isFirst = text !== '' && state.firstTokenMs === undefined;
      state = {
        ...state,
        text: state.text + text,
        ...(isFirst && { firstTokenMs: performance.now() - start }),
        ...(usage && { usage }),
        ...(error !== undefined && { error: new ApiError(0, undefined, error, null) }),
      };
      setState(state);
    }
  } catch (error) {
    if (!signal.aborted) state = { ...state, error };
  }
  setState({ ...state, isRunning: false, totalMs: performance.now() - start });
}
