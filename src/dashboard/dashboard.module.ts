import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DashboardConfigController } from './config.controller.js';
import { DashboardFiles } from './dashboard-files.js';
import { DashboardPagesController } from './pages.controller.js';
import { SessionCookieController } from './session-cookie.controller.js';

/** The web application in `dashboard/`. It uses the REST API; this module serves its files. */
@Module({
  imports: [AuthModule],
  controllers: [DashboardConfigController, SessionCookieController, DashboardPagesController],
  providers: [DashboardFiles],
})
export class DashboardModule {}
