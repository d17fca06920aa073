import { Controller, Get, HttpStatus, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { Operation } from '../common/api/operation.js';
import { LivenessResponse, ReadinessResponse } from './dto/health.response.js';
import { UnknownPart } from './health.errors.js';
import { HealthService } from './health.service.js';

/** Value of `for`: the proxy below `/v1`. */
const PROXY = 'proxy';

@ApiTags('Operation')
@Public() // load balancers have no session
@Controller()
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** Responds 200 while the process is alive, without any I/O. */
  @Operation('getHealth', 'Check whether the process is alive', {
    description: 'Checks no dependency: a failure means that the process has to be restarted.',
    response: LivenessResponse,
  })
  @Get('healthz')
  live(): LivenessResponse {
    return { status: 'ok' };
  }

  /** Responds 200 if requests can be served, otherwise 503 with the failed checks. */
  @Operation('getReadiness', 'Check whether requests can be served', {
    description:
      'Checks PostgreSQL and the storage. The status is 503 if one of them fails or the process is stopping. ' +
      'With `for=proxy`: 503 if known keys cannot be served below `/v1`, which is possible for `KEY_GRACE_SECONDS` ' +
      'without PostgreSQL.',
    response: ReadinessResponse,
    query: {
      for: { type: 'string', enum: [PROXY], description: 'The part of the service that is to be ready.' },
    },
    rejects: [UnknownPart],
    otherStatuses: [HttpStatus.SERVICE_UNAVAILABLE],
  })
  @Get('readyz')
  async ready(
    @Query('for') part: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ReadinessResponse> {
    if (part !== undefined && part !== PROXY) throw new UnknownPart();
    const readiness = part === PROXY ? this.health.checkProxy() : await this.health.check();
    if (readiness.status !== 'ok') response.status(HttpStatus.SERVICE_UNAVAILABLE);
    return readiness;
  }
}
