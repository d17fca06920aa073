import { ApiMember, oneOf } from '../../common/api/members.js';

const CHECK = oneOf(['ok', 'failed']);
export type CheckResult = 'ok' | 'failed';

export class LivenessResponse {
  @ApiMember(oneOf(['ok']))
  status: 'ok';
}

export class ReadinessResponse {
  @ApiMember(oneOf(['ok', 'unavailable', 'shutting down']))
  status: 'ok' | 'unavailable' | 'shutting down';

  @ApiMember(
    { type: 'object', properties: { database: CHECK, object_storage: CHECK }, required: ['database'] },
    'The proxy does not need object storage.',
  )
  checks: { database: CheckResult; object_storage?: CheckResult };
}
