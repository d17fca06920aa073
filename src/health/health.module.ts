import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import type { Settings } from '../config/settings.js';
import { StorageModule } from '../storage/storage.module.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { MetricsController } from './metrics.controller.js';

/** Routes for load balancers and operators. */
@Module({ imports: [StorageModule], providers: [HealthService] })
export class HealthModule {
  static with(settings: Settings): DynamicModule {
    const controllers = [HealthController, ...(servesMetrics(settings) ? [MetricsController] : [])];
    return { module: HealthModule, controllers };
  }
}

/** Whether `/metrics` exists. In production it requires an admin token, because it would otherwise be open to all. */
export function servesMetrics({ production, adminToken }: Settings): boolean {
  return !production || adminToken !== undefined;
}
