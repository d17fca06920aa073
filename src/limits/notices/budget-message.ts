import { html } from '../../common/pages/html.js';
import { mailPage } from '../../mail/mail-message.js';
import type { MailMessage } from '../../mail/mail-message.js';
import type { Budget } from '../rules/limit-set.js';

/** Notice that a budget has reached a share. */
export interface BudgetNotice {
  /** Percentage of the budget. */
  readonly share: number;
  readonly budget: Budget;
}

const OF_PERIOD = { day: 'of this day', week: 'of this week', month: 'of this month', total: '' } as const;

/** Creates the mail to an admin, as text and as HTML. @param name display name of the organization */
export function budgetMessage(
  { share, budget: { usd, period } }: BudgetNotice,
  name: string,
  dashboardUrl: string,
): Omit<MailMessage, 'to'> {
  const budget = ['the budget', OF_PERIOD[period], `(${usd} USD)`].filter((word) => word !== '').join(' ');
  const isUsedUp = share >= 100;
  const subject = isUsedUp ? 'A budget is used up' : `${share} % of a budget are used`;
  const first = `${name} has used ${isUsedUp ? budget : `${share} % of ${budget}`}.`;
  const next = isUsedUp
    ? 'Further requests to models are rejected until the period ends or an admin raises the budget.'
    : 'When the budget is used up, further requests to models are rejected.';
  return {
    subject,
    text: [first, next, `Usage and limits: ${dashboardUrl}`].join('\n\n'),
    html: mailPage(
      subject,
      html`<p>${first}</p>
        <p>${next}</p>
        <p><a href="${dashboardUrl}">Usage and limits</a></p>`,
    ),
  };
}
