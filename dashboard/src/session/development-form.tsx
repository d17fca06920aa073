import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, take } from '../api/client';
import { showFormError } from '../ui/forms/form-error';
import type { SignInPanelProps } from './sign-in-panel';
import { sessions } from './store';
import { readSession } from './token';

/** Signs in with an address only. The service offers it if no identity provider is configured. */
export function DevelopmentForm({ email = '' }: SignInPanelProps): ReactNode {
  const form = useForm({ initialValues: { email } });
  const signIn = useMutation({
    mutationFn: (address: string) => take(api.POST('/dev/sign-in', { body: { email: address } })),
    onSuccess: ({ token }) => {
      const session = readSession(token);
      if (session) sessions.signIn(session);
    },
    onError: (error) => showFormError(form, error, { invalid_email: 'email' }),
    meta: { isShownInForm: true },
  });
  return (
    <form onSubmit={form.onSubmit(({ email: address }) => signIn.mutate(address))} noValidate>
      <Stack>
        <TextInput
          label="E-mail address"
          type="email"
          placeholder="you@example.com"
          autoComplete="email"
          size="md"
          data-autofocus
          autoFocus
          {...form.getInputProps('email')}
        />
        <Button type="submit" size="md" loading={signIn.isPending}>
          Sign in
        </Button>
        <Text size="sm" c="dimmed">
          This is the development sign-in: any address works, and no password is needed.
        </Text>
      </Stack>
    </form>
  );
}
