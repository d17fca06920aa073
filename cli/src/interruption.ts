import { EXIT } from './errors.js';

type Cleanup = () => void;

const cleanups = new Set<Cleanup>();
let isDeferred = false;
let isInterrupted = false;

/** Makes Ctrl-C run the registered clean-ups and exit with 130. */
export function exitOnInterrupt(): void {
  process.on('SIGINT', onInterrupt);
}

/** Leaves Ctrl-C to the caller. */
export function ignoreInterrupts(): void {
  process.off('SIGINT', onInterrupt);
}

/** Runs `cleanup` on Ctrl-C, before the exit. Returns a function that withdraws it. */
export function onInterruption(cleanup: Cleanup): () => void {
  cleanups.add(cleanup);
  return () => cleanups.delete(cleanup);
}

/** Completes work that must not be cut in half. The first Ctrl-C takes effect afterwards, a second one at once. */
export async function uninterrupted<T>(work: () => Promise<T>): Promise<T> {
  isDeferred = true;
  try {
    return await work();
  } finally {
    isDeferred = false;
    if (isInterrupted) exit();
  }
}

function onInterrupt(): void {
  if (isDeferred && !isInterrupted) isInterrupted = true;
  else exit();
}

function exit(): void {
  for (const cleanup of cleanups) cleanup();
  process.exit(EXIT.interrupted);
}
