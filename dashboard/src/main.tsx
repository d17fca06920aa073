import './styles/mantine.css';
import '@mantine/notifications/styles.css';
import './styles/base.css';
import './styles/lists.css';
import './styles/editor.css';
import './styles/markdown.css';
import './styles/usage.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client';
import { App } from './app';
import { takeReturnedSignIn } from './session/redirect';
import { cssVariables, theme } from './theme';

/** Taken before the router starts, which would keep the fragment in its history. */
const returned = takeReturnedSignIn();

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <App returned={returned} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
