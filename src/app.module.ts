import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { AuthModule } from './auth/auth.module.js';
import { SessionGuard } from './auth/session.guard.js';
import { ErrorFilter } from './common/api/error.filter.js';
import { ConfigModule } from './config/config.module.js';
import type { Settings } from './config/settings.js';
import { DashboardModule } from './dashboard/dashboard.module.js';
import { DatabaseModule } from './database/database.module.js';
import { DeviceAuthModule } from './device-auth/device-auth.module.js';
import { DevSignInModule } from './dev-sign-in/dev-sign-in.module.js';
import { DocumentsModule } from './documents/documents.module.js';
import { HealthModule } from './health/health.module.js';
import { InvitationsModule } from './invitations/invitations.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { KeysModule } from './keys/keys.module.js';
import { LimitsModule } from './limits/limits.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OrganizationsModule } from './organizations/organizations.module.js';
import { OwnerScopeGuard } from './organizations/scope/owner-scope.guard.js';
import { PricesModule } from './prices/prices.module.js';
import { ProjectsModule } from './projects/projects.module.js';
import { ProxyModule } from './proxy/proxy.module.js';
import { StorageModule } from './storage/storage.module.js';
import { UnknownRouteModule } from './unknown-route.module.js';
import { UpstreamsModule } from './upstreams/upstreams.module.js';
import { UsageModule } from './usage/usage.module.js';

/** Timeouts that no deployment has a reason to change. */
export interface Timeouts {
  /** Maximum duration of a call to object storage. */
  readonly storageTimeoutMs?: number;
  /** Time after which a proxied request no longer waits for the database. */
  readonly urgentTimeoutMs?: number;
}

/** The table of contents. */
@Module({
  providers: [
    { provide: APP_GUARD, useExisting: SessionGuard }, // who is it?
    { provide: APP_GUARD, useExisting: OwnerScopeGuard }, // on whose behalf, and may they?
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class AppModule {
  /**
   * @param databaseUrl of the PostgreSQL that the settings name, or of the embedded one
   * @param timeouts other timeouts for tests
   */
  static with(settings: Settings, databaseUrl: string, timeouts: Timeouts = {}): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.with(settings),
        MetricsModule,
        DatabaseModule.connect(databaseUrl, settings.databasePoolSize, timeouts.urgentTimeoutMs),
        StorageModule.with(timeouts.storageTimeoutMs),
        ScheduleModule.forRoot(),
        JobsModule,
        AuthModule,
        // Express looks at one route after the other: those that are asked for most come first.
        DocumentsModule,
        ProjectsModule,
        OrganizationsModule,
        InvitationsModule,
        UpstreamsModule,
        KeysModule,
        UsageModule,
        LimitsModule,
        PricesModule,
        DeviceAuthModule,
        ProxyModule,
        HealthModule.with(settings),
        ...(settings.developmentSignIn ? [DevSignInModule] : []),
        ...(settings.dashboard ? [DashboardModule] : []), // its pages come after all other routes
        UnknownRouteModule, // last: it answers everything
      ],
    };
  }
}
