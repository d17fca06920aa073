import { text, url } from './declaration.js';

export const MAIL = {
  SMTP_URL: url({
    protocols: ['smtp:', 'smtps:'],
    defaultText: 'no mails are sent',
    description:
      'Mail server for invitations and for notices about budgets, with user and password if needed.',
  }),
  MAIL_FROM: text({
    values: 'mail address, with or without a name',
    pattern: /^[^@\r\n]+@[^@\r\n]+$/,
    problem: 'must be an address',
    description: 'Sender of the mails. Required with `SMTP_URL`, and only then allowed.',
  }),
};
