import { queryOptions } from '@tanstack/react-query';
import { api, take } from '../api/client';
import type { Schemas } from '../api/client';

/** Organization with the role of the signed-in person. */
export type Organization = Schemas['Organization'];

/** Organizations of the signed-in person. */
export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: async () => (await take(api.GET('/me/organizations'))).organizations,
});

/** Pending invitations for the signed-in address. */
export const receivedInvitationsQuery = queryOptions({
  queryKey: ['received-invitations'],
  queryFn: async () => (await take(api.GET('/me/invitations'))).invitations,
});

/** Name of an organization as the pages show it. */
export function ownerName({ kind, name }: Organization): string {
  return kind === 'personal' ? 'Personal' : name;
}
