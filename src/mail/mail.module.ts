import { Module } from '@nestjs/common';
import { MailServer } from './mail-server.js';

/** Connection to the mail server, and the queues of mails for it. */
@Module({ providers: [MailServer], exports: [MailServer] })
export class MailModule {}
