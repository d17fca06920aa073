import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, take } from '../api/client';
import type { Schemas } from '../api/client';
import { queryClient } from '../api/query-client';
import { organizationsQuery } from '../organizations/queries';

/** Member of a team with the role. */
export type Member = Schemas['Member'];
/** Invitation as lists have it, without its link. */
export type Invitation = Schemas['Invitation'];
/** Created or renewed invitation with its link, which no other response contains. */
export type NewInvitation = Schemas['CreatedInvitation'];
/** Event of the audit log of a team. */
export type AuditEvent = Schemas['AuditEvent'];
/** Role of a member of a team. */
export type Role = Schemas['Member']['role'];

const AUDIT_PAGE = 50;

/** Members of a team with their roles. */
export const membersQuery = (id: number) =>
  queryOptions({
    queryKey: ['members', id],
    queryFn: async () =>
      (await take(api.GET('/me/organizations/{id}/members', { params: { path: { id } } }))).members,
  });

/** Invitations of a team in all states. */
export const invitationsQuery = (id: number) =>
  queryOptions({
    queryKey: ['invitations', id],
    queryFn: async () =>
      (await take(api.GET('/me/organizations/{id}/invitations', { params: { path: { id } } }))).invitations,
  });

/** Events of a team, newest first. Most are caused on other pages, so each visit asks for the new ones. */
export const auditQuery = (id: number) =>
  infiniteQueryOptions({
    queryKey: ['audit', id],
    staleTime: 0,
    queryFn: ({ pageParam }) => {
      const query = { limit: AUDIT_PAGE, ...(pageParam !== null && { cursor: pageParam }) };
      return take(api.GET('/me/organizations/{id}/audit', { params: { path: { id }, query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

/** Changes the role of a member. */
export async function changeRole(id: number, userId: string, role: Role): Promise<void> {
  const params = { path: { id, user_id: userId } };
  const member = await take(api.PUT('/me/organizations/{id}/members/{user_id}', { params, body: { role } }));
  changeMembers(id, (members) => members.map((other) => (other.user_id === userId ? member : other)));
  void queryClient.invalidateQueries({ queryKey: organizationsQuery.queryKey });
}

/**
 * Removes a member and revokes the member's keys.
 * @param userId `me` to leave
 */
export async function removeMember(id: number, userId: string): Promise<Schemas['MemberRemoved']> {
  const params = { path: { id, user_id: userId } };
  const removed = await take(api.DELETE('/me/organizations/{id}/members/{user_id}', { params }));
  changeMembers(id, (members) => members.filter((member) => member.user_id !== userId));
  void queryClient.invalidateQueries({ queryKey: ['keys', id] });
  return removed;
}

/** Invites an address. The link is in this response only. */
export async function invite(id: number, body: Schemas['Invite']): Promise<NewInvitation> {
  const created = await take(api.POST('/me/organizations/{id}/invite', { params: { path: { id } }, body }));
  await refreshInvitations(id);
  return created;
}

/** Replaces the link of an invitation. The old link stops working. */
export async function resendInvitation(id: number, invitationId: number): Promise<NewInvitation> {
  const params = { path: { id, invitation_id: invitationId } };
  const renewed = await take(
    api.POST('/me/organizations/{id}/invitations/{invitation_id}/resend', { params }),
  );
  await refreshInvitations(id);
  return renewed;
}

/** Ends an invitation. Its link stops working. */
export async function cancelInvitation(id: number, invitationId: number): Promise<void> {
  const params = { path: { id, invitation_id: invitationId } };
  await take(api.DELETE('/me/organizations/{id}/invitations/{invitation_id}', { params }));
  await refreshInvitations(id);
}

async function refreshInvitations(id: number): Promise<void> {
  void queryClient.invalidateQueries({ queryKey: auditQuery(id).queryKey });
  await queryClient.invalidateQueries({ queryKey: invitationsQuery(id).queryKey });
}

function changeMembers(id: number, change: (members: Member[]) => Member[]): void {
  const { queryKey } = membersQuery(id);
  queryClient.setQueryData(queryKey, (members) => members && change(members));
  void queryClient.invalidateQueries({ queryKey });
  void queryClient.invalidateQueries({ queryKey: auditQuery(id).queryKey });
}
