import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { HealthService } from './health.service.js';
import type { Readiness } from './health.service.js';

@Public() // asked by load balancers, which have no session
@Controller()
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** 200 while the process lives, without any I/O. */
  @Get('healthz')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 200 when requests can be served, 503 with the failing checks named otherwise. */
  @Get('readyz')
  async ready(@Res({ passthrough: true }) response: Response): Promise<Readiness> {
    const readiness = await this.health.check();
    if (readiness.status !== 'ok') response.status(HttpStatus.SERVICE_UNAVAILABLE);
    return readiness;
  }
}
