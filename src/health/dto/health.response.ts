import { object, oneOf, Shown } from '../../common/members.js';

const CHECK = oneOf(['ok', 'failed']);
export type CheckResult = 'ok' | 'failed';

export class LivenessResponse {
  @Shown(oneOf(['ok']))
  status: 'ok';
}

export class ReadinessResponse {
  @Shown(oneOf(['ok', 'unavailable', 'shutting down']))
  status: 'ok' | 'unavailable' | 'shutting down';

  @Shown(object({ database: CHECK, object_storage: CHECK }))
  checks: { database: CheckResult; object_storage: CheckResult };
}
