/**
 * Path of this origin that a `return_to` names, with query and fragment. Other origins, and the sign-in page itself,
 * become the start page.
 */
export function safeReturnTo(value: string | undefined, origin: string): string {
  if (value === undefined || !URL.canParse(value, origin)) return '/';
  const url = new URL(value, origin);
  if (url.origin !== origin || url.pathname === '/sign-in') return '/';
  return url.pathname + url.search + url.hash;
}

/** Pages of the service, which the dashboard's router does not know. */
const SERVICE_PAGES = /^\/(auth|oauth|docs|dev)(\/|$|\?)/;

export function isServicePage(path: string): boolean {
  return SERVICE_PAGES.test(path);
}
