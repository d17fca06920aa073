import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../auth/public.decorator.js';
import { Operation } from '../common/api/operation.js';
import { VERSION } from '../common/process/version.js';
import { Settings } from '../config/settings.js';
import { DashboardConfigResponse } from './dto/dashboard-config.response.js';

/** Settings that the application needs before anybody is signed in. */
@ApiTags('Dashboard')
@Public() // the settings contain no secrets
@Controller('dashboard')
export class DashboardConfigController {
  private readonly config: DashboardConfigResponse;

  constructor({ dashboard, publicUrl }: Settings) {
    this.config = DashboardConfigResponse.from(VERSION, publicUrl, dashboard!);
  }

  @Operation('getDashboardConfig', 'Settings of the dashboard', {
    description: 'Public settings that the web application reads before the sign-in.',
    response: DashboardConfigResponse,
  })
  @Header('Cache-Control', 'no-cache')
  @Get('config.json')
  get(): DashboardConfigResponse {
    return this.config;
  }
}
