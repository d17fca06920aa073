import type { Organization } from './queries';

const KEY = 'mintkeep.owner';

/** Keeps the id of the organization that was open last, for the start page. */
export function rememberOwner(id: string): void {
  localStorage.setItem(KEY, id);
}

/** Organization to open first: the one that was open last, else the personal one. */
export function firstOwner(organizations: readonly Organization[]): Organization {
  const last = organizations.find(({ id }) => String(id) === localStorage.getItem(KEY));
  return last ?? organizations.find(({ kind }) => kind === 'personal') ?? organizations[0]!;
}
