// The type of a value depends on its event.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Listener = (value: any) => void;

/**
 * Minimal emitter for per-request objects. Constructing an `EventEmitter` costs more than the few events that one
 * request emits.
 */
export class Emitter {
  private registrations: Registration[] = [];

  on(event: string, listener: Listener): this {
    this.registrations.push({ event, listener, isOnce: false });
    return this;
  }

  once(event: string, listener: Listener): this {
    this.registrations.push({ event, listener, isOnce: true });
    return this;
  }

  off(event: string, listener: Listener): this {
    this.registrations = this.registrations.filter(
      (each) => each.event !== event || each.listener !== listener,
    );
    return this;
  }

  /** @internal */
  emit(event: string, value?: unknown): void {
    const { registrations } = this;
    const count = registrations.length; // listeners that are added or removed meanwhile change nothing
    for (let i = 0; i < count; i++) {
      const { event: registered, listener, isOnce } = registrations[i]!;
      if (registered !== event) continue;
      if (isOnce) this.off(event, listener);
      listener(value);
    }
  }
}

interface Registration {
  readonly event: string;
  readonly listener: Listener;
  readonly isOnce: boolean;
}
