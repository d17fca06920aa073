import { startConstantMock } from '../proxy/mocks.js';
import { requireProgram } from '../support/machine.js';
import { newSession } from '../support/session.js';
import { createWorkspace } from '../support/workspace.js';
import type { Workspace } from '../support/workspace.js';
import { DatabaseObserver } from './database.js';
import { createMixes, createUpstream } from './mixes.js';
import type { MixRequests } from './mixes.js';
import { ReplicaGroup } from './replica-group.js';

/** Load generator, mock upstream and PostgreSQL. */
export const LOAD_CORE = 1;

/** Everything that all turns share. The replicas are started anew in each turn. */
export interface Lab {
  readonly workspace: Workspace;
  readonly database: DatabaseObserver;
  readonly requests: MixRequests;
  /** Session of the user whose keys are revoked. */
  readonly session: string;
  dispose(): Promise<void>;
}

export async function openLab(): Promise<Lab> {
  requireProgram('nginx', 'nginx-light');
  const workspace = await createWorkspace();
  const closing: (() => Promise<unknown>)[] = [() => workspace.dispose()];
  const dispose = async () => {
    for (const close of closing.toReversed()) await close();
  };
  try {
    const mock = await startConstantMock(workspace.dataDir, LOAD_CORE);
    closing.push(() => mock.child.stop());
    const session = await newSession('revoker');
    const requests = await prepare(workspace, session, mock.ports.plain);
    const database = await DatabaseObserver.open(workspace);
    closing.push(() => database.close());
    return { workspace, database, requests, session, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Migrates the database, and creates upstreams and keys. */
async function prepare(workspace: Workspace, session: string, upstreamPort: number): Promise<MixRequests> {
  const group = await ReplicaGroup.start(workspace, 1);
  try {
    const port = group.ports[0]!;
    await createUpstream(port, session, upstreamPort);
    return await createMixes(port, upstreamPort);
  } finally {
    await group.stop();
  }
}
