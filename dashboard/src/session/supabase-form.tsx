import { Alert, Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { SignInPanelProps } from './sign-in-panel';
import { sendMagicLink, signInWithPassword } from './supabase';
import type { SupabaseSettings } from './supabase';

type Method = 'link' | 'password';

interface Props extends SignInPanelProps {
  readonly settings: SupabaseSettings;
}

/** Signs in by magic link or password of Supabase Auth. */
export default function SupabaseForm({ settings, email = '', returnTo }: Props): ReactNode {
  const [method, setMethod] = useState<Method>('link');
  const form = useForm({ initialValues: { email, password: '' } });
  const signIn = useMutation({
    mutationFn: (values: { email: string; password: string }) =>
      method === 'link'
        ? sendMagicLink(settings, values.email, returnTo)
        : signInWithPassword(settings, values.email, values.password),
    meta: { isShownInForm: true },
  });
  const isSent = method === 'link' && signIn.isSuccess;
  if (isSent) return <LinkSent email={form.values.email} onBack={() => signIn.reset()} />;
  return (
    <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
      <Stack>
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="email"
          required
          size="md"
          autoFocus
          {...form.getInputProps('email')}
        />
        {method === 'password' && (
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            size="md"
            {...form.getInputProps('password')}
          />
        )}
        {signIn.isError && <Failure error={signIn.error} method={method} />}
        <Button type="submit" size="md" loading={signIn.isPending}>
          {method === 'link' ? 'Send me a sign-in link' : 'Sign in'}
        </Button>
        <Anchor
          component="button"
          type="button"
          size="sm"
          onClick={() => setMethod(method === 'link' ? 'password' : 'link')}
        >
          {method === 'link' ? 'Sign in with a password' : 'Send me a link instead'}
        </Anchor>
      </Stack>
    </form>
  );
}

const ADVICE: Record<Method, string> = {
  link: 'Check the address, or try again later.',
  password: 'Check the address and the password, or request a link.',
};

/** Message of Supabase, with the next step. */
function Failure({ error, method }: { error: Error; method: Method }): ReactNode {
  return (
    <Alert color="red" role="alert">
      {(error.message || 'The sign-in failed').replace(/\.$/, '')}. {ADVICE[method]}
    </Alert>
  );
}

function LinkSent({ email, onBack }: { email: string; onBack: () => void }): ReactNode {
  return (
    <Stack>
      <Alert title="Look into your mailbox">A link that signs you in is on its way to {email}.</Alert>
      <Anchor component="button" type="button" size="sm" onClick={onBack}>
        Use another address
      </Anchor>
    </Stack>
  );
}
