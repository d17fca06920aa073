import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { KeysModule } from '../keys/keys.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { BoundedQueries } from './query/bounded-queries.js';
import { UsageDatabase } from './query/usage-database.js';
import { UsageJournal } from './journal/usage-journal.js';
import { UsageBatches } from './write/usage-batches.js';
import { UsagePartitions } from './write/usage-partitions.js';
import { UsageRecorder } from './write/usage-recorder.js';
import { UsageRequestsService } from './query/usage-requests.service.js';
import { UsageSummaryService } from './query/usage-summary.service.js';
import { UsageWriter } from './write/usage-writer.js';
import { UsageController } from './query/usage.controller.js';

/** Usage of the proxy: recorded without loss, summed up, and available to its owners. */
@Module({
  imports: [AuthModule, KeysModule, LimitsModule, OrganizationsModule],
  controllers: [UsageController],
  providers: [
    UsageRecorder,
    UsageJournal,
    UsageWriter,
    UsageBatches,
    UsagePartitions,
    UsageDatabase,
    BoundedQueries,
    UsageSummaryService,
    UsageRequestsService,
  ],
  exports: [UsageRecorder, UsageSummaryService],
})
export class UsageModule {}
