import { Injectable, Logger } from '@nestjs/common';
import { Jobs } from '../jobs/jobs.js';
import { DeletionQueue } from './deletion-queue.js';

/** Deletes the objects that are due. */
@Injectable()
export class DeletionSweep {
  private readonly logger = new Logger(DeletionSweep.name);

  constructor(
    private readonly deletions: DeletionQueue,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'delete_objects', everySeconds: 60, work: () => this.run() });
  }

  private async run(): Promise<void> {
    const objects = await this.deletions.sweep();
    if (objects > 0) this.logger.log({ objects }, 'swept object storage');
  }
}
