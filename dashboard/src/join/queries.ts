import { queryOptions } from '@tanstack/react-query';
import { api, take } from '../api/client';
import type { Schemas } from '../api/client';
import { queryClient } from '../api/query-client';
import { organizationsQuery, receivedInvitationsQuery } from '../organizations/queries';

/** Invitation that a link has, as the signed-in person sees it. */
export const previewQuery = (token: string, userId: string) =>
  queryOptions({
    queryKey: ['invitation-preview', token, userId],
    queryFn: () => take(api.POST('/me/invitations/preview', { body: { token } })),
    retry: false,
  });

/** Accepts the invitation of a link. */
export async function acceptByToken(token: string): Promise<Schemas['AcceptedInvitation']> {
  return refresh(await take(api.POST('/me/invitations/accept', { body: { token } })));
}

/** Accepts a received invitation. */
export async function acceptInvitation(id: number): Promise<Schemas['AcceptedInvitation']> {
  const params = { path: { invitation_id: id } };
  return refresh(await take(api.POST('/me/invitations/{invitation_id}/accept', { params })));
}

/** Declines a received invitation. */
export async function declineInvitation(id: number): Promise<void> {
  await take(
    api.POST('/me/invitations/{invitation_id}/decline', { params: { path: { invitation_id: id } } }),
  );
  await queryClient.invalidateQueries({ queryKey: receivedInvitationsQuery.queryKey });
}

/** Loads the lists that contain the new team before its page opens. */
async function refresh(accepted: Schemas['AcceptedInvitation']): Promise<Schemas['AcceptedInvitation']> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: organizationsQuery.queryKey }),
    queryClient.invalidateQueries({ queryKey: receivedInvitationsQuery.queryKey }),
  ]);
  return accepted;
}
