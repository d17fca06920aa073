import type { EntityManager } from 'typeorm';
import { lockCap } from '../database/transactions/caps.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';

export const MAILS_PER_INVITATION = 5;
export const MAILS_PER_ORGANIZATION_AND_HOUR = 100;
export const MAILS_PER_INVITER_AND_HOUR = 100;

/**
 * Inserts no row beyond a limit. Windows slide. Uses `statement_timestamp()`, which can bound an index scan.
 */
const GRANT = `
  INSERT INTO invitation_mail_grants (invitation_id, organization_id, inviter_user_id, granted_at)
  SELECT $1, $2, $3, statement_timestamp()
  WHERE NOT EXISTS (SELECT FROM invitation_mail_grants
      WHERE invitation_id = $1 AND granted_at > statement_timestamp() - interval '1 minute')
    AND (SELECT count(*) FROM invitation_mail_grants WHERE invitation_id = $1) < ${MAILS_PER_INVITATION}
    AND (SELECT count(*) FROM invitation_mail_grants
      WHERE organization_id = $2 AND granted_at > statement_timestamp() - interval '1 hour'
    ) < ${MAILS_PER_ORGANIZATION_AND_HOUR}
    AND (SELECT count(*) FROM invitation_mail_grants
      WHERE inviter_user_id = $3 AND granted_at > statement_timestamp() - interval '1 hour'
    ) < ${MAILS_PER_INVITER_AND_HOUR}
  RETURNING id`;

/**
 * Counts one more mail for the invitation, its organization and the caller, unless that exceeds a limit. Requires the
 * organization's lock. The lock of the caller excludes their invitations to other organizations.
 * @returns false beyond a limit
 */
export async function grantMail(
  { organizationId, user }: OwnerScope,
  invitationId: number,
  transaction: EntityManager,
): Promise<boolean> {
  await lockCap('mailsOfInviter', user.id, transaction);
  const granted = await transaction.query<unknown[]>(GRANT, [invitationId, organizationId, user.id]);
  return granted.length === 1;
}
