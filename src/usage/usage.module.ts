import { Module } from '@nestjs/common';
import { UsageJournal } from './journal/usage-journal.js';
import { UsageBatches } from './usage-batches.js';
import { UsagePartitions } from './usage-partitions.js';
import { UsageRecorder } from './usage-recorder.js';
import { UsageWriter } from './usage-writer.js';

/** What requests to the proxy used: recorded without loss, summed up, and told. */
@Module({
  providers: [UsageRecorder, UsageJournal, UsageWriter, UsageBatches, UsagePartitions],
  exports: [UsageRecorder],
})
export class UsageModule {}
