/** Response of `POST /oauth/introspect`. Limits and costs are absent from older services. */
export interface Introspection {
  readonly active: true;
  readonly username: string;
  /** Unix time in seconds; absent if the key never expires. */
  readonly exp?: number;
  readonly key: { readonly name: string };
  readonly organization: { readonly name: string; readonly kind: string };
  readonly limits?: Limits;
  readonly status?: LimitStatus;
  readonly usage?: Usage;
}

/** Limits of a key; null stands for no limit. */
export interface Limits {
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly budget: { readonly usd: number; readonly period: string } | null;
  readonly models: readonly string[] | null;
}

/** Consumption that counts against {@link Limits}. */
export interface LimitStatus {
  readonly requests_last_minute: number;
  readonly tokens_last_minute: number;
  readonly budget: { readonly spent_usd: number; readonly remaining_usd: number } | null;
}

/** Sums of usage; null where nothing is known. */
export interface Measures {
  readonly requests: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
  readonly cost_usd?: number | null;
}

/** Usage by day and model. */
export interface Usage {
  readonly totals: Measures;
  readonly buckets: readonly {
    readonly start: string;
    readonly groups: readonly (Measures & { readonly model: string | null })[];
  }[];
}
