/**
 * Path of this origin that a `return_to` names, with query and fragment. Other origins, and the sign-in page itself,
 * become the start page. The path starts with exactly one slash, because `//host/` alone names another origin.
 */
export function safeReturnTo(value: string | undefined, origin: string): string {
  if (value === undefined || !URL.canParse(value, origin)) return '/';
  const url = new URL(value, origin);
  const path = url.pathname.replace(/^\/+/, '/');
  if (url.origin !== origin || path === '/sign-in') return '/';
  return path + url.search + url.hash;
}

/** Pages of the service, which the dashboard's router does not know. */
const SERVICE_PAGES = /^\/(auth|oauth|docs|dev)(\/|$|\?)/;

/** Whether a path belongs to a page of the service, outside the dashboard. */
export function isServicePage(path: string): boolean {
  return SERVICE_PAGES.test(path);
}
