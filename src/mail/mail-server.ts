import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import type { Transporter } from 'nodemailer';
import { Settings } from '../config/settings.js';
import { Jobs } from '../jobs/jobs.js';
import { Metrics } from '../metrics/metrics.js';
import type { MailMessage } from './mail-message.js';

/** Shorter than the first delay, so that no other replica takes a mail that is being sent. */
const SEND_TIMEOUT_MS = 45_000;
/** Time that a shutdown waits for the mails that are being sent. An unfinished mail stays in its queue. */
const SHUTDOWN_TIMEOUT_MS = 3_000;

/** Queue that a {@link MailServer} sends from. */
export interface ServedQueue {
  /** Sends all due mails. */
  deliver(): Promise<void>;
  /** Number of mails that wait to be sent, on all replicas together. */
  count(): Promise<number>;
  /** Waits for the delivery that is running. Never rejects. */
  untilIdle(): Promise<void>;
}

/** The mail server of the settings, and the queues of mails for it. */
@Injectable()
export class MailServer implements OnApplicationShutdown {
  private readonly transport?: Transporter;
  private readonly queues: ServedQueue[] = [];
  private readonly cutOff = new AbortController();
  private isShutDown = false;

  constructor(
    private readonly settings: Settings,
    private readonly jobs: Jobs,
    metrics: Metrics,
  ) {
    metrics.gauge(
      'mintkeep_mail_queue_messages',
      'Mails that wait to be sent, on all replicas together',
      () => this.countMails(),
    );
    if (settings.smtp) this.transport = createTransport(settings.smtp.url);
  }

  /** Whether the settings name a mail server. No mail is queued otherwise. */
  get isConfigured(): boolean {
    return this.transport !== undefined;
  }

  /** Whether no further mail is to be sent, because the service shuts down. */
  get isStopping(): boolean {
    return this.isShutDown;
  }

  /** Adds a queue, which is sent from every 10 s. @param job name of the job */
  add(queue: ServedQueue, job: string): void {
    this.queues.push(queue);
    this.jobs.add({ name: job, everySeconds: 10, work: () => queue.deliver() });
  }

  /** Sends a mail from the sender of the settings. Requires a mail server. @throws after 45 s */
  async send(message: MailMessage): Promise<void> {
    const signal = AbortSignal.any([this.cutOff.signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
    await this.transport!.sendMail({ from: this.settings.smtp!.from, ...message, signal });
  }

  async onApplicationShutdown(): Promise<void> {
    this.isShutDown = true;
    const timer = setTimeout(() => this.cutOff.abort(), SHUTDOWN_TIMEOUT_MS);
    await Promise.all(this.queues.map((queue) => queue.untilIdle()));
    clearTimeout(timer);
    this.transport?.close();
  }

  private async countMails(): Promise<number> {
    const counts = await Promise.all(this.queues.map((queue) => queue.count()));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}
