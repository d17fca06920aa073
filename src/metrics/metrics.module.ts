import { Global, Module } from '@nestjs/common';
import { Metrics } from './metrics.js';

/** Metrics for operators. Every module adds its own. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
