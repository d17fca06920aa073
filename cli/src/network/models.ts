import { readJson, send } from './service.js';
import type { Access } from './service.js';

/** Entry of the model list. */
export interface Model {
  readonly id: string;
  /** A name, or any other value that an upstream sends. */
  readonly owned_by?: unknown;
  /** Unix time in seconds, 0 if it is unknown, or any other value that an upstream sends. */
  readonly created?: unknown;
}

/** Response of `GET /v1/models`. */
export interface ModelList {
  readonly data: readonly Model[];
}

/** @throws CliError */
export async function listModels(access: Access): Promise<ModelList> {
  const response = await send(access, '/v1/models', { method: 'GET' });
  return readJson<ModelList>(access.server, response);
}
