import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { KeysModule } from '../keys/keys.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { DevicePageUrls } from './flow/device-page-urls.js';
import { DeviceApprovalService } from './flow/device-approval.service.js';
import { DeviceCodeController } from './api/device-code.controller.js';
import { DeviceCodes } from './flow/device-codes.js';
import { DeviceExpiry } from './flow/device-expiry.js';
import { DevicePageController } from './page/device-page.controller.js';
import { DevicePageFrame } from './page/device-page-frame.js';
import { DevicePages } from './page/device-pages.js';
import { DevicePollingService } from './flow/device-polling.service.js';
import { DeviceErrorPages } from './page/device-error-pages.js';
import { DeviceRequestsController } from './api/device-requests.controller.js';
import { DeviceSession } from './flow/device-session.entity.js';
import { DeviceSessionsService } from './flow/device-sessions.service.js';
import { OAuthController } from './oauth/oauth.controller.js';
import { OAuthKeysController } from './oauth/oauth-keys.controller.js';
import { PageSessions } from './page/page-sessions.js';
import { RateLimit } from './flow/rate-limit.entity.js';
import { RateLimits } from './flow/rate-limits.js';
import { UserCodeLookup } from './flow/user-code-lookup.js';
import { UserCodes } from './flow/user-codes.js';

/**
 * Gives a key to a tool without a browser. The tool shows a code, a person approves the code, and the tool fetches
 * the key once.
 */
@Module({
  imports: [
    AuthModule,
    KeysModule,
    OrganizationsModule,
    UsageModule,
    TypeOrmModule.forFeature([DeviceSession, RateLimit]),
  ],
  controllers: [
    DeviceCodeController,
    DevicePageController,
    DeviceRequestsController,
    OAuthController,
    OAuthKeysController,
  ],
  providers: [
    DeviceCodes,
    UserCodes,
    RateLimits,
    UserCodeLookup,
    DeviceSessionsService,
    DevicePollingService,
    DeviceExpiry,
    DeviceApprovalService,
    PageSessions,
    DevicePageUrls,
    DevicePages,
    DeviceErrorPages,
    DevicePageFrame,
  ],
})
export class DeviceAuthModule {}
