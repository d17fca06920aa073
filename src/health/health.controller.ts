import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { Operation } from '../common/api/operation.js';
import { LivenessResponse, ReadinessResponse } from './dto/health.response.js';
import { HealthService } from './health.service.js';

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
      'Checks PostgreSQL and the storage. The status is 503 if one of them fails or the process is stopping.',
    response: ReadinessResponse,
    otherStatuses: [HttpStatus.SERVICE_UNAVAILABLE],
  })
  @Get('readyz')
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessResponse> {
    const readiness = await this.health.check();
    if (readiness.status !== 'ok') response.status(HttpStatus.SERVICE_UNAVAILABLE);
    return readiness;
  }
}
