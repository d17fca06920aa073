// Whoever registers for an event knows what it tells.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Listener = (value: any) => void;

interface Registration {
  readonly event: string;
  readonly listener: Listener;
  readonly isOnce: boolean;
}

/**
 * What lives as long as one request has few listeners, to few events: an emitter of Node's takes longer to make than
 * it is used.
 */
export class Listeners {
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
    const { registrations } = this; // those that come or go meanwhile change nothing
    const count = registrations.length;
    for (let i = 0; i < count; i++) {
      const { event: own, listener, isOnce } = registrations[i]!;
      if (own !== event) continue;
      if (isOnce) this.off(event, listener);
      listener(value);
    }
  }
}
