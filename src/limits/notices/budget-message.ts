import { html } from '../../common/pages/html.js';
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
): { subject: string; text: string; html: string } {
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
    html: html`<!doctype html>
      <html lang="en">
        <body style="margin:0;padding:32px 16px;background:#f4f4f2;font:16px/1.5 system-ui,sans-serif;color:#1c1c1a">
          <div style="max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:12px">
            <h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${subject}</h1>
            <p>${first}</p>
            <p>${next}</p>
            <p><a href="${dashboardUrl}">Usage and limits</a></p>
          </div>
        </body>
      </html>`.toString(),
  };
}
