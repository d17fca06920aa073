const ID_BYTES = 16;
/** A lock that another window holds for longer belongs to a request without a response. */
const TURN_TIMEOUT_MS = 3_000;
const TURN_LOCK = 'mintkeep-drafts';
const SLOT_LOCK = 'mintkeep-draft-';

/** Slots that this window has. */
const held = new Set<string>();
let lastTurn: Promise<unknown> = Promise.resolve();

/** Whether the browser has locks between windows. It does not on plain HTTP, except on the own machine. */
export function hasLocks(): boolean {
  return 'locks' in navigator;
}

/** Random id. `crypto.randomUUID` does not exist on plain HTTP. */
export function newSlotId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Takes the lock of a slot. The browser releases it when the window ends, however it ends.
 * @returns the function that releases it, or undefined if a window has it
 */
export function acquireSlot(slot: string): Promise<(() => void) | undefined> {
  if (held.has(slot)) return Promise.resolve(undefined);
  held.add(slot);
  const forget = () => void held.delete(slot);
  if (!hasLocks()) return Promise.resolve(forget);
  return new Promise((resolve) => {
    const hold = (lock: Lock | null) => {
      if (!lock) {
        forget();
        return resolve(undefined);
      }
      return new Promise<void>((release) => {
        resolve(() => {
          forget();
          release();
        });
      });
    };
    navigator.locks.request(SLOT_LOCK + slot, { ifAvailable: true }, hold).catch(() => resolve(forget));
  });
}

/** Runs actions with leftover drafts one after the other, in all windows. */
export async function takeTurn<T>(action: () => Promise<T>): Promise<T> {
  if (!hasLocks()) {
    const turn = lastTurn.then(action);
    lastTurn = turn.catch(() => undefined);
    return turn;
  }
  let isStarted = false;
  const run = () => {
    isStarted = true;
    return action();
  };
  const signal = AbortSignal.timeout(TURN_TIMEOUT_MS);
  try {
    return await navigator.locks.request(TURN_LOCK, { signal }, run);
  } catch (error) {
    if (isStarted) throw error;
    return action();
  }
}
