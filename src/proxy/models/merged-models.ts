import { asObject } from '../json/json-object.js';

/** Limit of one merged list. Real catalogues are far smaller; the limit bounds the memory for the set of ids. */
const MAX_MODELS = 100_000;

/** Merges lists in the format of OpenAI or Anthropic. The first upstream that lists an id defines its entry. */
export class MergedModels {
  private readonly ids = new Set<string>();
  private readonly texts: Buffer[] = [];
  private firstId: string | null = null;
  private lastId: string | null = null;

  constructor(readonly anthropic: boolean) {}

  /** @throws RangeError if a model is nested deeper than `JSON.stringify` supports, though `JSON.parse` accepted it */
  add(models: readonly ListedModel[]): void {
    let text = '';
    for (const model of models) {
      if (this.ids.has(model.id) || this.ids.size >= MAX_MODELS) continue;
      const comma = this.ids.size === 0 ? '' : ',';
      text += comma + JSON.stringify(this.anthropic ? toAnthropicModel(model) : toOpenAiModel(model));
      this.ids.add(model.id);
      this.firstId ??= model.id;
      this.lastId = model.id;
    }
    this.texts.push(Buffer.from(text));
  }

  get isEmpty(): boolean {
    return this.ids.size === 0;
  }

  /** @returns the JSON text in chunks */
  toJson(): Buffer[] {
    const ids = { first_id: this.firstId, last_id: this.lastId };
    const start = this.anthropic ? '{"data":[' : '{"object":"list","data":[';
    const end = this.anthropic ? `],"has_more":false,${JSON.stringify(ids).slice(1)}` : ']}';
    return [Buffer.from(start), ...this.texts, Buffer.from(end)];
  }
}

/** Parses the model list of one upstream. @returns undefined if the body is not a list */
export function parseModels(body: Buffer): ListedModel[] | undefined {
  try {
    const list: unknown = JSON.parse(body.toString('utf8'));
    const models = Array.isArray(list) ? list : asObject(list)?.data; // Together sends the array alone
    if (models === null) return []; // Ollama sends null if it has no models
    return Array.isArray(models) ? models.filter(isModel) : undefined;
  } catch {
    return undefined;
  }
}

function isModel(value: unknown): value is ListedModel {
  return typeof asObject(value)?.id === 'string';
}

function toOpenAiModel(model: ListedModel): object {
  if (model.type !== 'model') return { object: 'model', ...model };
  const { created_at: createdAt } = model;
  const created = typeof createdAt === 'string' ? Math.floor(Date.parse(createdAt) / 1_000) : 0;
  return { id: model.id, object: 'model', created: created || 0, owned_by: 'anthropic' };
}

function toAnthropicModel(model: ListedModel): object {
  if (model.type === 'model') return model;
  const seconds = typeof model.created === 'number' ? model.created : 0;
  return { type: 'model', id: model.id, display_name: displayName(model), created_at: toIsoTime(seconds) };
}

function displayName({ name, id }: ListedModel): string {
  return typeof name === 'string' ? name : id;
}

function toIsoTime(seconds: number): string {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString();
}

/** Model as its upstream lists it. */
export type ListedModel = Readonly<Record<string, unknown>> & { readonly id: string };
