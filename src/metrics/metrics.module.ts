import { Global, Module } from '@nestjs/common';
import { Metrics } from './metrics.js';

/** Figures for operators; every module adds its own. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
