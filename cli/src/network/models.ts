import { readJson, send } from './service.js';
import type { Access } from './service.js';

/** Entry of the model list. */
export interface Model {
  readonly id: string;
  readonly owned_by?: string;
  /** Unix time in seconds; 0 if it is unknown. */
  readonly created?: number;
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
