import { Module } from '@nestjs/common';
import { MailModule } from '../mail/mail.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { Consumption } from './consumption/consumption.js';
import { WrittenUsage } from './consumption/written-usage.js';
import { LimitEnforcer } from './limit-enforcer.js';
import { LimitStatus } from './limit-status.js';
import { LimitsController, MemberLimitsController } from './limits.controller.js';
import { LimitsService } from './limits.service.js';
import { BudgetMailer } from './notices/budget-mailer.js';
import { BudgetNotices } from './notices/budget-notices.js';
import { RequestBuckets } from './requests/request-buckets.js';

/** Limits of organizations, members and keys: requests, tokens, budgets and models. */
@Module({
  imports: [OrganizationsModule, MailModule],
  controllers: [LimitsController, MemberLimitsController],
  providers: [
    LimitsService,
    LimitStatus,
    LimitEnforcer,
    RequestBuckets,
    Consumption,
    WrittenUsage,
    BudgetNotices,
    BudgetMailer,
  ],
  exports: [LimitsService, LimitStatus, LimitEnforcer, WrittenUsage],
})
export class LimitsModule {}
