import type { PoolUpstream } from '../../upstreams/upstreams.service.js';
import type { ListedModel } from './merged-models.js';

/** Time of models whose upstream was not queried. */
const UNKNOWN_TIME = '1970-01-01T00:00:00Z';

/** Creates the entry of a model that an upstream serves by an exact rule, in the format of OpenAI or Anthropic. */
function createdModel(id: string, provider: string, anthropic: boolean): ListedModel {
  return anthropic
    ? { type: 'model', id, display_name: id, created_at: UNKNOWN_TIME }
    : { id, object: 'model', created: 0, owned_by: provider };
}

/** Whether the list of an upstream's models depends on what the upstream lists. */
export function isQueried({ rules }: PoolUpstream): boolean {
  return !rules || rules.dependsOnUpstream;
}

/**
 * Lists the models of an upstream by the names that lead clients to them.
 * @param own models that the upstream lists; empty if it was not queried or did not respond
 */
export function* modelsOf(
  { rules, provider }: PoolUpstream,
  own: readonly ListedModel[],
  anthropic: boolean,
): Generator<ListedModel> {
  if (!rules) {
    yield* own;
    return;
  }
  for (const rule of rules.rules) {
    if (rule.isExact) yield createdModel(rule.pattern.text, provider, anthropic);
    if (!rule.listsUpstreamModels) continue;
    for (const model of own) {
      const id = rule.toClient(model.id);
      if (id !== undefined && rules.find(id) === rule) yield id === model.id ? model : { ...model, id };
    }
  }
}

/** Entry of `GET /v1/models/{model}`; undefined if the first upstream that serves the model has to be queried. */
export function knownModel(
  model: string,
  [first]: readonly PoolUpstream[],
  anthropic: boolean,
): ListedModel | undefined {
  return first?.rules?.find(model)?.isExact ? createdModel(model, first.provider, anthropic) : undefined;
}
