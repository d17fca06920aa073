import { ApiError } from '../api/errors';

/** Rejection of an invitation in words, with the next step. */
export interface JoinProblem {
  readonly title: string;
  readonly advice: string;
  /** Whether signing in with another address can help. */
  readonly canSwitch: boolean;
  /** Id of the rejected request. */
  readonly requestId?: string | null;
}

const ASK = 'Ask the person who invited you for a new invitation.';

const PROBLEMS: Record<string, JoinProblem> = {
  invitation_not_found: {
    title: 'This invitation does not exist',
    advice: `The link may be incomplete, or a newer invitation has replaced it. ${ASK}`,
    canSwitch: false,
  },
  invitation_cancelled: { title: 'This invitation was cancelled', advice: ASK, canSwitch: false },
  invitation_expired: { title: 'This invitation has expired', advice: ASK, canSwitch: false },
  invitation_used: {
    title: 'This invitation was used already',
    advice: `An invitation works once. ${ASK}`,
    canSwitch: true,
  },
  email_mismatch: {
    title: 'This invitation is for another address',
    advice: 'Sign in with the address that was invited.',
    canSwitch: true,
  },
  email_unverified: {
    title: 'Your address is not verified',
    advice: 'Confirm your address at the sign-in provider, sign in again, and open the link once more.',
    canSwitch: true,
  },
  too_many_members: {
    title: 'The team is full',
    advice: 'Ask an admin to remove someone first, and open the link again.',
    canSwitch: false,
  },
};

/** Explains why an invitation cannot be accepted, or returns undefined for other errors. */
export function explainJoin(error: unknown): JoinProblem | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const problem = PROBLEMS[error.type ?? ''];
  return problem && { ...problem, requestId: error.requestId };
}

/** Problem that the preview tells before anything is accepted. */
export function problemOf(status: string, invited: string, own: string): JoinProblem | undefined {
  if (status === 'cancelled' || status === 'expired') return PROBLEMS[`invitation_${status}`];
  if (invited.trim().toLowerCase() !== own.trim().toLowerCase())
    return { ...PROBLEMS.email_mismatch!, advice: `It was sent to ${invited}. You are signed in as ${own}.` };
  return undefined;
}
