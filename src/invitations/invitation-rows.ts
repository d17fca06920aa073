import type { EntityManager } from 'typeorm';
import type { InvitationResponse } from './dto/invitation.response.js';
import type { EmailDelivery } from './invitation.entity.js';

/** The status as it is now, whether or not the job that writes down expiries has run. */
const STATUS = `CASE WHEN i.status = 'pending' AND i.expires_at <= clock_timestamp() THEN 'expired' ELSE i.status END`;

/** The members of a {@link StoredInvitation}, from `invitations i`. */
export const INVITATION_COLUMNS = `
  i.id, i.organization_id, i.email, i.role, ${STATUS} AS status,
  json_build_object('user_id', i.invited_by_user_id, 'email', i.invited_by_email) AS invited_by,
  i.created_at, i.expires_at, i.accepted_at, i.cancelled_at, i.email_delivery`;

/** As PostgreSQL answers {@link INVITATION_COLUMNS}. */
export interface StoredInvitation extends InvitationResponse {
  email_delivery: EmailDelivery;
}

/** As it is shown: where there is no mail server, nothing is said of mail. */
export function shown<T extends StoredInvitation>({ email_delivery, ...rest }: T): Shown<T> {
  return email_delivery === 'disabled' ? rest : { ...rest, email_delivery };
}

type Shown<T extends StoredInvitation> = Omit<T, 'email_delivery'> &
  Pick<InvitationResponse, 'email_delivery'>;

/** Condition: pending, and not only because nobody has looked. */
export const IS_PENDING = `i.status = 'pending' AND i.expires_at > clock_timestamp()`;

/** An invitation with what decides about it. */
export interface InvitationRow {
  readonly response: InvitationResponse;
  /** Null once the organization is deleted. */
  readonly organizationId: number | null;
  /** As it is called today or, at last, when it was deleted. */
  readonly organizationName: string;
  readonly organizationSlug: string;
  readonly emailKey: string;
  readonly acceptedByUserId: string | null;
}

type RawRow = StoredInvitation & {
  organization_name: string;
  organization_slug: string;
  email_key: string;
  accepted_by_user_id: string | null;
};

/** Finds one by its id or by the hash of its token. @param lock until the transaction ends */
export async function findInvitation(
  by: { readonly id: number } | { readonly tokenSha256: Buffer },
  manager: EntityManager,
  lock?: 'lock',
): Promise<InvitationRow | undefined> {
  const [condition, value] = 'id' in by ? ['i.id = $1', by.id] : ['i.token_sha256 = $1', by.tokenSha256];
  const [row] = await manager.query<RawRow[]>(
    `SELECT ${INVITATION_COLUMNS}, i.email_key, i.accepted_by_user_id,
       coalesce(o.name, i.organization_name) AS organization_name,
       coalesce(o.slug, i.organization_slug) AS organization_slug
     FROM invitations i LEFT JOIN organizations o ON o.id = i.organization_id
     WHERE ${condition} ${lock ? 'FOR UPDATE OF i' : ''}`,
    [value],
  );
  if (!row) return undefined;
  const { organization_name, organization_slug, email_key, accepted_by_user_id, ...invitation } = row;
  return {
    response: shown(invitation),
    organizationId: invitation.organization_id,
    organizationName: organization_name,
    organizationSlug: organization_slug,
    emailKey: email_key,
    acceptedByUserId: accepted_by_user_id,
  };
}
