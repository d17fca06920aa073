import { useSyncExternalStore } from 'react';
import { closeDeviceSession, openDeviceSession } from './device-session';
import { readSession } from './token';
import { Store } from '../text/store';
import type { Session } from './token';

const STORAGE_KEY = 'mintkeep.session';
/** Storage key of Supabase's client. Its value includes the refresh token. */
export const SUPABASE_KEY = 'mintkeep.supabase';

/** `expired` keeps the last session, so that the same person can go on where they were. */
export type SessionState =
  { readonly status: 'signed-out' } | { readonly status: 'signed-in' | 'expired'; readonly session: Session };

/** Session of this tab. It lives in `sessionStorage`, so it ends with the tab. */
class SessionStore {
  private readonly state = new Store<SessionState>(restore());
  readonly snapshot = this.state.snapshot;
  readonly subscribe = this.state.subscribe;

  /** Session for requests. */
  current(): Session | undefined {
    const state = this.snapshot();
    return state.status === 'signed-in' ? state.session : undefined;
  }

  signIn(session: Session): void {
    sessionStorage.setItem(STORAGE_KEY, session.token);
    this.state.set({ status: 'signed-in', session });
    void openDeviceSession(session.token);
  }

  /** @param token rejected by the service; a newer session stays valid */
  expire(token: string | undefined): void {
    const session = this.current();
    if (!session || session.token !== token) return;
    sessionStorage.removeItem(STORAGE_KEY);
    this.state.set({ status: 'expired', session });
  }

  signOut(): void {
    sessionStorage.removeItem(STORAGE_KEY);
    this.state.set({ status: 'signed-out' });
    void closeDeviceSession();
  }
}

function restore(): SessionState {
  const token = sessionStorage.getItem(STORAGE_KEY);
  const session = token === null ? undefined : readSession(token);
  if (!session || session.expiresAt <= Date.now()) return { status: 'signed-out' };
  return { status: 'signed-in', session };
}

/** Session of this tab. */
export const sessions = new SessionStore();

/** Session of this tab as React state. */
export function useSession(): SessionState {
  return useSyncExternalStore(sessions.subscribe, sessions.snapshot);
}

/** Session of the signed-in person, for pages that only they can open. */
export function useCurrentSession(): Session {
  const state = useSession();
  if (state.status === 'signed-out') throw new Error('this page requires a session');
  return state.session;
}
