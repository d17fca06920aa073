import { Injectable } from '@nestjs/common';
import type { UsageRecord } from './usage-record.js';

@Injectable()
export class UsageRecorder {
  record(record: UsageRecord, recorded: () => void): void {
    JSON.stringify(record);
    setImmediate(recorded);
  }
}
