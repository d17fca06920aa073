import type { EntityManager } from 'typeorm';
import type { InvitationResponse } from './dto/invitation.response.js';
import type { EmailDelivery, InvitationStatus } from './invitation.entity.js';

/** Maximum number of invitations in a list that are not pending. */
export const CLOSED_MAX = 1_000;

/** Time of the statement: an invitation cannot expire between two parts of the statement. */
const STATEMENT_TIME = 'statement_timestamp()';

/** Status at a time, also before the expiry job has stored it. */
const statusAt = (time: string): string =>
  `CASE WHEN i.status = 'pending' AND i.expires_at <= ${time} THEN 'expired' ELSE i.status END`;

const isPendingAt = (time: string): string => `i.status = 'pending' AND i.expires_at > ${time}`;

/** Columns of a {@link StoredInvitation} from `invitations i` at a time, which is an SQL expression. */
const columnsAt = (time: string): string => `
  i.id, i.organization_id, i.email, i.role, ${statusAt(time)} AS status,
  json_build_object('user_id', i.invited_by_user_id, 'email', i.invited_by_email) AS invited_by,
  i.created_at, i.expires_at, i.accepted_at, i.cancelled_at, i.email_delivery`;

/** Columns of a {@link StoredInvitation} at the current time. */
export const INVITATION_COLUMNS = columnsAt('clock_timestamp()');

/** Condition that an invitation is stored as pending and has not expired. */
export const IS_PENDING = isPendingAt('clock_timestamp()');

/**
 * Lists all pending invitations of an organization ($1) if $2, and the newest others whose stored status is one of $3.
 * Each stored status is a range of an index, of which only the end is read.
 */
export const LIST = `
  SELECT ${columnsAt(STATEMENT_TIME)} FROM (
    SELECT p.* FROM (
      SELECT i.* FROM invitations i WHERE i.organization_id = $1 AND ${isPendingAt(STATEMENT_TIME)}
    ) AS p WHERE $2::boolean
    UNION ALL (
      SELECT newest.* FROM unnest($3::text[]) AS stored (status)
      CROSS JOIN LATERAL (
        SELECT i.* FROM invitations i
        WHERE i.organization_id = $1 AND i.status = stored.status AND NOT (${isPendingAt(STATEMENT_TIME)})
        ORDER BY i.id DESC LIMIT ${CLOSED_MAX}
      ) AS newest ORDER BY newest.id DESC LIMIT ${CLOSED_MAX}
    )
  ) AS i ORDER BY i.id`;

/** Returns the values of {@link LIST}. @param status limits the list to one current status */
export function listValues(organizationId: number, status?: InvitationStatus): unknown[] {
  const isListed = (candidate: InvitationStatus) => status === undefined || status === candidate;
  const closed = (['accepted', 'cancelled', 'expired'] as const).filter(isListed);
  // The expiry job stores `expired` later: until then the stored status is `pending`.
  const stored = isListed('expired') ? [...closed, 'pending'] : closed;
  return [organizationId, isListed('pending'), stored];
}

/** Row with {@link INVITATION_COLUMNS}. */
export interface StoredInvitation extends InvitationResponse {
  email_delivery: EmailDelivery;
}

/** Removes the delivery state if there is no mail server. */
export function toInvitationResponse<T extends StoredInvitation>({
  email_delivery,
  ...rest
}: T): WithOptionalDelivery<T> {
  return email_delivery === 'disabled' ? rest : { ...rest, email_delivery };
}

type WithOptionalDelivery<T extends StoredInvitation> = Omit<T, 'email_delivery'> &
  Pick<InvitationResponse, 'email_delivery'>;

/** Invitation with the columns that decide who may use it and that its mail shows. */
export interface InvitationRow {
  readonly response: InvitationResponse;
  /** Null once the organization is deleted. */
  readonly organizationId: number | null;
  /** Current name or, once the organization is deleted, its last name. */
  readonly organizationName: string;
  readonly organizationSlug: string;
  readonly emailKey: string;
  readonly acceptedByUserId: string | null;
}

export type InvitationKey = { readonly id: number } | { readonly tokenSha256: Buffer };

/** Finds an invitation by its id or by the hash of its token. */
export function findInvitation(
  key: InvitationKey,
  manager: EntityManager,
): Promise<InvitationRow | undefined> {
  return selectInvitation(key, '', manager);
}

/** Finds an invitation as {@link findInvitation} does, and locks its row until the transaction ends. */
export function lockInvitation(
  key: InvitationKey,
  transaction: EntityManager,
): Promise<InvitationRow | undefined> {
  return selectInvitation(key, 'FOR UPDATE OF i', transaction);
}

type RawRow = StoredInvitation & {
  organization_name: string;
  organization_slug: string;
  email_key: string;
  accepted_by_user_id: string | null;
};

async function selectInvitation(
  key: InvitationKey,
  lockClause: string,
  manager: EntityManager,
): Promise<InvitationRow | undefined> {
  const [condition, value] = 'id' in key ? ['i.id = $1', key.id] : ['i.token_sha256 = $1', key.tokenSha256];
  const [row] = await manager.query<RawRow[]>(
    `SELECT ${INVITATION_COLUMNS}, i.email_key, i.accepted_by_user_id,
       coalesce(o.name, i.organization_name) AS organization_name,
       coalesce(o.slug, i.organization_slug) AS organization_slug
     FROM invitations i LEFT JOIN organizations o ON o.id = i.organization_id
     WHERE ${condition} ${lockClause}`,
    [value],
  );
  if (!row) return undefined;
  const { organization_name, organization_slug, email_key, accepted_by_user_id, ...invitation } = row;
  return {
    response: toInvitationResponse(invitation),
    organizationId: invitation.organization_id,
    organizationName: organization_name,
    organizationSlug: organization_slug,
    emailKey: email_key,
    acceptedByUserId: accepted_by_user_id,
  };
}
