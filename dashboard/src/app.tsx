import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { ConfirmSignIn } from './session/confirm-sign-in';
import {
  adoptReturnedSignIn,
  canRestoreSession,
  renewSupabaseSession,
  restoreSupabaseSession,
} from './session/returned';
import type { ReturnedSignIn } from './session/redirect';
import { LoadingPage } from './loading-page';
import { router } from './router';

type Step = 'confirm' | 'adopt' | 'restore' | 'ready';

/** Decides first about a session that came with the URL, so that no page sends a request with it before. */
export function App({ returned }: { returned: ReturnedSignIn | undefined }): ReactNode {
  const [step, setStep] = useState<Step>(() => firstStep(returned));
  useEffect(() => {
    if (step === 'adopt' && returned) void adoptReturnedSignIn(returned).then(() => setStep('ready'));
    if (step === 'restore') void restoreSupabaseSession().then(() => setStep('ready'));
    if (step === 'ready') void renewSupabaseSession();
  }, [step, returned]);
  if (step === 'confirm' && returned)
    return (
      <ConfirmSignIn
        email={returned.session.email}
        onDecision={(isAccepted) => setStep(isAccepted ? 'adopt' : 'ready')}
      />
    );
  return step === 'ready' ? <RouterProvider router={router} /> : <LoadingPage />;
}

function firstStep(returned: ReturnedSignIn | undefined): Step {
  if (!returned) return canRestoreSession() ? 'restore' : 'ready';
  return returned.isExpected ? 'adopt' : 'confirm';
}
