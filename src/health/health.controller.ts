import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { Operation } from '../common/operation.js';
import { LivenessResponse, ReadinessResponse } from './dto/health.response.js';
import { HealthService } from './health.service.js';

@ApiTags('Operation')
@Public() // asked by load balancers, which have no session
@Controller()
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** 200 while the process lives, without any I/O. */
  @Operation('getHealth', 'Whether the process lives', { answers: LivenessResponse })
  @Get('healthz')
  live(): LivenessResponse {
    return { status: 'ok' };
  }

  /** 200 when requests can be served, 503 with the failing checks named otherwise. */
  @Operation('getReadiness', 'Whether requests can be served', {
    answers: ReadinessResponse,
    alsoWith: [HttpStatus.SERVICE_UNAVAILABLE],
  })
  @Get('readyz')
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessResponse> {
    const readiness = await this.health.check();
    if (readiness.status !== 'ok') response.status(HttpStatus.SERVICE_UNAVAILABLE);
    return readiness;
  }
}
