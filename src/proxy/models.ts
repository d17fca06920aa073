import { asObject } from './json-object.js';

/** A model as its upstream lists it. */
export type ListedModel = Readonly<Record<string, unknown>> & { readonly id: string };

/** The models of one upstream's list; undefined when it is not a list. */
export function modelsIn(body: Buffer): ListedModel[] | undefined {
  try {
    const list: unknown = JSON.parse(body.toString('utf8'));
    const models = Array.isArray(list) ? list : asObject(list)?.data; // Together's is the array alone
    if (models === null) return []; // Ollama without models
    return Array.isArray(models) ? models.filter(isModel) : undefined;
  } catch {
    return undefined;
  }
}

function isModel(value: unknown): value is ListedModel {
  return typeof asObject(value)?.id === 'string';
}

/** One list of all, each id as the first one has it, in the shape of OpenAI's list or of Anthropic's. */
export function mergedModels(models: readonly ListedModel[], anthropic: boolean): object {
  const byId = new Map<string, ListedModel>();
  for (const model of models) if (!byId.has(model.id)) byId.set(model.id, model);
  const merged = [...byId.values()];
  if (!anthropic) return { object: 'list', data: merged.map(asOpenAi) };
  const ids = { first_id: merged[0]?.id ?? null, last_id: merged.at(-1)?.id ?? null };
  return { data: merged.map(asAnthropic), has_more: false, ...ids };
}

function asOpenAi(model: ListedModel): object {
  if (model.type !== 'model') return { object: 'model', ...model };
  const { created_at: createdAt } = model;
  const created = typeof createdAt === 'string' ? Math.floor(Date.parse(createdAt) / 1_000) : 0;
  return { id: model.id, object: 'model', created: created || 0, owned_by: 'anthropic' };
}

function asAnthropic(model: ListedModel): object {
  if (model.type === 'model') return model;
  const seconds = typeof model.created === 'number' ? model.created : 0;
  return { type: 'model', id: model.id, display_name: displayName(model), created_at: isoTime(seconds) };
}

function displayName({ name, id }: ListedModel): string {
  return typeof name === 'string' ? name : id;
}

function isoTime(seconds: number): string {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString();
}
