import { Controller, Get, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { sendUncached } from '../common/api/conditional.js';
import { Metrics } from '../metrics/metrics.js';
import { AdminTokenGuard } from './admin-token.guard.js';

@Public() // Prometheus has the admin token instead of a session
@UseGuards(AdminTokenGuard)
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  /** Metrics of this replica in the Prometheus text format. */
  @Get()
  async read(@Res() response: Response): Promise<void> {
    const text = await this.metrics.text();
    response.set({ 'Content-Type': this.metrics.contentType, 'Cache-Control': 'no-store' });
    sendUncached(response, text);
  }
}
