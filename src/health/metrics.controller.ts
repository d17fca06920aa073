import { Controller, Get, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { sendAfresh } from '../common/send-afresh.js';
import { Metrics } from '../metrics/metrics.js';
import { AdminTokenGuard } from './admin-token.guard.js';

@Public() // asked by Prometheus, which has the admin token instead of a session
@UseGuards(AdminTokenGuard)
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  /** The figures of this replica, as Prometheus reads them. */
  @Get()
  async read(@Res() response: Response): Promise<void> {
    const text = await this.metrics.text();
    response.set({ 'Content-Type': this.metrics.contentType, 'Cache-Control': 'no-store' });
    sendAfresh(response, text);
  }
}
