import { NAME_MAX_CODE_POINTS } from '../common/body/fields.js';
import { html } from '../common/pages/html.js';
import { toDisplayName } from '../common/text/display-name.js';
import { EMAIL_MAX_LENGTH } from '../common/text/text.js';
import type { Settings } from '../config/settings.js';
import { mailPage } from '../mail/mail-message.js';
import type { MailMessage } from '../mail/mail-message.js';
import { looksLikeAddress } from '../common/text/address-like.js';
import type { InvitationRow } from './invitation-rows.js';

/** Creates the mail as text and as HTML. */
export function invitationMessage(
  { response, organizationName, organizationSlug }: InvitationRow,
  token: string,
  settings: Settings,
): MailMessage {
  const { email, role, invited_by, expires_at } = response;
  const inviter = displayLine(invited_by.email, EMAIL_MAX_LENGTH) ?? 'Somebody';
  const name = displayLine(organizationName, NAME_MAX_CODE_POINTS) ?? organizationSlug;
  const link = joinUrl(settings, token);
  const until = `${expires_at.slice(0, 10)} at ${expires_at.slice(11, 16)} UTC`;
  const as = role === 'admin' ? 'an admin' : 'a member';
  return {
    to: email,
    // Mail programs turn addresses in a subject into links, and the sender chooses the name.
    subject: `${inviter} invites you to ${looksLikeAddress(name) ? organizationSlug : name}`,
    text: [
      `${inviter} invites you to join ${name} as ${as}.`,
      `Accept the invitation here, signed in as ${email}:`,
      link,
      `The link is valid until ${until}. If you do not expect this invitation, ignore this mail.`,
    ].join('\n\n'),
    html: mailPage(
      `Join ${name}`,
      html`<p>${inviter} invites you to join <strong>${name}</strong> as ${as}.</p>
        <p style="margin:28px 0">
          <a
            href="${link}"
            style="display:inline-block;padding:12px 24px;border-radius:8px;background:#1f6f54;color:#fff;text-decoration:none;font-weight:600"
            >Accept the invitation</a
          >
        </p>
        <p style="color:#5c5c57;font-size:14px">
          The invitation is for ${email} and valid until ${until}. If you do not expect this invitation, ignore
          this mail.
        </p>
        <p style="color:#5c5c57;font-size:14px;word-break:break-all">${link}</p>`,
    ),
  };
}

/** Joins the lines of the text, because a further line could pass for text of the service. */
function displayLine(text: string, maxLength: number): string | undefined {
  return toDisplayName(text.replace(/\s+/g, ' '), maxLength);
}

/** Page of the dashboard that accepts an invitation by its token. */
export function joinUrl({ dashboardUrl }: Pick<Settings, 'dashboardUrl'>, token: string): string {
  return `${dashboardUrl}/join?token=${token}`;
}
