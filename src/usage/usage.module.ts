import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { KeysModule } from '../keys/keys.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { UsageJournal } from './journal/usage-journal.js';
import { OrganizationUsageController } from './organization-usage.controller.js';
import { UsageBatches } from './usage-batches.js';
import { UsagePartitions } from './usage-partitions.js';
import { UsageRecorder } from './usage-recorder.js';
import { UsageRequestsService } from './usage-requests.service.js';
import { UsageSummaryService } from './usage-summary.service.js';
import { UsageWriter } from './usage-writer.js';
import { UsageController } from './usage.controller.js';

/** What requests to the proxy used: recorded without loss, summed up, and told. */
@Module({
  imports: [AuthModule, KeysModule, OrganizationsModule],
  controllers: [UsageController, OrganizationUsageController],
  providers: [
    ...[UsageRecorder, UsageJournal, UsageWriter, UsageBatches, UsagePartitions],
    ...[UsageSummaryService, UsageRequestsService],
  ],
  exports: [UsageRecorder],
})
export class UsageModule {}
