import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { KeysModule } from '../keys/keys.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { DeviceAddresses } from './device-addresses.js';
import { DeviceApprovalService } from './device-approval.service.js';
import { DeviceCodeController } from './device-code.controller.js';
import { DeviceCodes } from './device-codes.js';
import { DeviceExpiry } from './device-expiry.js';
import { DevicePageController } from './device-page.controller.js';
import { DevicePageFrame } from './device-page-frame.js';
import { DevicePages } from './device-pages.js';
import { DevicePollingService } from './device-polling.service.js';
import { DeviceRefusalPages } from './device-refusal-pages.js';
import { DeviceRequestsController } from './device-requests.controller.js';
import { DeviceSession } from './device-session.entity.js';
import { DeviceSessionsService } from './device-sessions.service.js';
import { OAuthController } from './oauth.controller.js';
import { PageSessions } from './page-session.js';
import { RateLimit } from './rate-limit.entity.js';
import { RateLimits } from './rate-limits.js';
import { UserCodeLookup } from './user-code-lookup.js';
import { UserCodes } from './user-codes.js';

/** How a tool without a browser gets a key: it shows a code, a person approves it, the tool fetches the key once. */
@Module({
  imports: [
    AuthModule,
    KeysModule,
    OrganizationsModule,
    TypeOrmModule.forFeature([DeviceSession, RateLimit]),
  ],
  controllers: [DeviceCodeController, DevicePageController, DeviceRequestsController, OAuthController],
  providers: [
    ...[DeviceCodes, UserCodes, RateLimits, UserCodeLookup], // codes and limits
    ...[DeviceSessionsService, DevicePollingService, DeviceExpiry], // the device's side
    ...[DeviceApprovalService, PageSessions, DeviceAddresses], // the person's
    ...[DevicePages, DeviceRefusalPages, DevicePageFrame],
  ],
})
export class DeviceAuthModule {}
