import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** A mail as it was handed in. */
export interface Mail {
  readonly from: string;
  /** Recipients of the envelope. */
  readonly to: string[];
  readonly headers: string;
  readonly text: string;
  readonly html: string;
}

/** A mail server in this process. */
export interface Smtp {
  readonly port: number;
  /** Value for `SMTP_URL`. */
  readonly url: string;
  readonly mails: Mail[];
  /** Runs before a mail is acknowledged; an error that it throws rejects the mail. */
  onMail: (mail: Mail) => Promise<void> | void;
  stop(): Promise<void>;
}

/** @param port to come back at the address where a server was before */
export async function startSmtp(port = 0): Promise<Smtp> {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onData(stream, session, callback) {
      void buffer(stream)
        .then(async (raw) => {
          const { mailFrom, rcptTo } = session.envelope;
          const to = rcptTo.map(({ address }) => address);
          const mail = { from: mailFrom ? mailFrom.address : '', to, ...parse(raw.toString('latin1')) };
          await smtp.onMail(mail);
          smtp.mails.push(mail);
        })
        .then(() => callback(), callback);
    },
  });
  server.on('error', () => undefined); // clients that are cut off
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address() as AddressInfo;
  const smtp: Smtp = {
    port: address.port,
    url: `smtp://127.0.0.1:${address.port}`,
    mails: [],
    onMail: () => undefined,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return smtp;
}

/** Parses a message with a plain and an HTML part, each in quoted-printable or base64 (RFC 2045). */
function parse(raw: string): Pick<Mail, 'headers' | 'text' | 'html'> {
  const [headers = '', body = ''] = split(raw);
  const boundary = /boundary="?([^"\r\n;]+)/.exec(headers)![1]!;
  const parts = body.split(`--${boundary}`).map((part) => split(part.trimStart()));
  const content = (type: string) => {
    const [partHeaders = '', encoded = ''] = parts.find(([head]) => head?.includes(`text/${type}`)) ?? [];
    return decode(encoded.replace(/\r\n$/, ''), /transfer-encoding: (\S+)/i.exec(partHeaders)?.[1]);
  };
  return { headers: unfold(headers), text: content('plain'), html: content('html') };
}

function split(entity: string): [string, string] {
  const end = entity.indexOf('\r\n\r\n');
  return end < 0 ? [entity, ''] : [entity.slice(0, end), entity.slice(end + 4)];
}

/** Headers one a line, with their encoded words (RFC 2047) decoded. */
function unfold(headers: string): string {
  const joined = headers.replace(/\r\n[ \t]+/g, ' ').replace(/\?= =\?/g, '?==?');
  return joined.replace(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, encoding: string, text: string) =>
    encoding.toUpperCase() === 'Q'
      ? decode(text.replaceAll('_', ' '), 'quoted-printable')
      : decode(text, 'base64'),
  );
}

function decode(text: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return Buffer.from(text, 'latin1').toString('utf8');
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
