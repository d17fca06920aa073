import type { Edit } from './edit.js';

/** Range of bytes of a body. */
export interface BodySpan {
  readonly start: number;
  /** Position after the last byte. */
  readonly end: number;
}

/** Model that a request names, and the place of its name. */
export interface RequestedModel {
  readonly name: string;
  readonly place: 'json' | 'form' | 'path' | 'query';
  /** Position of the name, including its quotes in JSON; undefined in a path or query. */
  readonly span?: BodySpan;
}

const MODELS = '/v1/models/';

/** Reads the model that follows `/v1/models/`. @returns undefined for other paths, and if the text cannot be decoded */
export function findPathModel(path: string): RequestedModel | undefined {
  if (!path.startsWith(MODELS) || path.length === MODELS.length) return undefined;
  try {
    return { name: decodeURIComponent(path.slice(MODELS.length)), place: 'path' };
  } catch {
    return undefined;
  }
}

/** Replaces the model in the path of a request target, which may have a query. */
export function replacePathModel(target: string, model: string): string {
  const query = target.indexOf('?');
  return `${MODELS}${encodeURIComponent(model)}${query < 0 ? '' : target.slice(query)}`;
}

/** Reads the parameter `model` of a request target. */
export function findQueryModel(target: string): { readonly name?: string; readonly isUnclear: boolean } {
  const query = target.indexOf('?');
  const [name, ...others] = query < 0 ? [] : new URLSearchParams(target.slice(query)).getAll('model');
  return others.length > 0 ? { isUnclear: true } : { name, isUnclear: false };
}

/** Replaces the parameter `model` of a request target. Every other byte stays as it was. */
export function replaceQueryModel(target: string, model: string): string {
  const query = target.indexOf('?') + 1;
  const pairs = target.slice(query).split('&');
  const replaced = pairs.map((pair) => {
    const isModel = new URLSearchParams(`&${pair}`).has('model'); // a leading `?` would be dropped
    return isModel ? `${pair.split('=', 1)[0]}=${encodeURIComponent(model)}` : pair;
  });
  return target.slice(0, query) + replaced.join('&');
}

/** Edit of the body that names another model. */
export function modelEdit({ place, span }: RequestedModel, model: string): Edit | undefined {
  return span && { ...span, text: place === 'json' ? JSON.stringify(model) : model };
}
