import { Injectable, Logger } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { DeletionQueue } from './deletion-queue.js';

/** Every minute, on every replica: deletes the objects that are due. They share the work by row locks. */
@Injectable()
export class DeletionSweep {
  private readonly logger = new Logger(DeletionSweep.name);

  constructor(private readonly deletions: DeletionQueue) {}

  @Cron(CronExpression.EVERY_MINUTE, { waitForCompletion: true })
  async run(): Promise<void> {
    try {
      const objects = await this.deletions.sweep();
      if (objects > 0) this.logger.log({ objects }, 'swept object storage');
    } catch (error) {
      this.logger.warn({ reason: (error as Error).message }, 'object storage could not be swept');
    }
  }
}
