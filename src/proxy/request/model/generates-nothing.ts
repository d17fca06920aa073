const SAFE_METHODS = new Set(['GET', 'HEAD', 'DELETE']);
const FILES = /^\/v1\/(?:files\/?|uploads(?:\/.*)?)$/;
/** Other characters might end the path at an upstream: `/v1/chat/completions#/cancel`. */
const PLAIN_PATH = /^[\w./-]+$/;

/** Whether a request certainly makes no model work: reads, deletions, cancellations and uploads. */
export function generatesNothing({
  method,
  path,
}: {
  readonly method: string;
  readonly path: string;
}): boolean {
  if (method !== 'POST') return SAFE_METHODS.has(method);
  const isCandidate =
    path.endsWith('/cancel') || path.startsWith('/v1/files') || path.startsWith('/v1/uploads');
  return isCandidate && PLAIN_PATH.test(path) && (path.endsWith('/cancel') || FILES.test(path));
}
