import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useSession } from '../session/store';

/** Opens the sign-in page when the session has ended by the person's wish. */
export function useLeaveAfterSignOut(): void {
  const { status } = useSession();
  const navigate = useNavigate();
  useEffect(() => {
    if (status === 'signed-out') void navigate({ to: '/sign-in', replace: true });
  }, [status, navigate]);
}
