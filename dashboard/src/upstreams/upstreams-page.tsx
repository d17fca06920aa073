import { Button } from '@mantine/core';
import { IconPlugConnected, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { Missing } from '../shell/error-pages';
import { upstreamsRoute } from '../routes';
import { EmptyState } from '../ui/empty-state';
import { Loaded } from '../ui/loaded';
import { PageHeader } from '../ui/page-header';
import { upstreamsQuery } from './queries';
import { UpstreamList } from './upstream-list';
import { UpstreamModal } from './upstream-modal';

/** Providers that requests are passed to, in the order of attempts. */
export function UpstreamsPage(): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  const upstreams = useQuery({ ...upstreamsQuery(owner.id), enabled: isAdmin });
  const { add } = upstreamsRoute.useSearch();
  const navigate = useNavigate({ from: upstreamsRoute.fullPath });
  const open = () => void navigate({ search: { add: 'true' } });
  const close = () => void navigate({ search: {}, replace: true });
  if (!isAdmin)
    return (
      <Missing code="403" title="Only for admins">
        Ask an admin of the team to change its upstreams.
      </Missing>
    );
  const button = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      Add upstream
    </Button>
  );
  return (
    <>
      <PageHeader title="Upstreams" text="Requests go to the first one. If it fails, the next one is tried.">
        {upstreams.data?.length !== 0 && button}
      </PageHeader>
      <Loaded query={upstreams}>
        {(list) =>
          list.length > 0 ? (
            <UpstreamList upstreams={list} />
          ) : (
            <EmptyState
              icon={IconPlugConnected}
              title="No upstreams yet"
              text="An upstream is the API of a provider, such as OpenAI or Anthropic, with your key for it. Keys of mintkeep lead to it."
            >
              {button}
            </EmptyState>
          )
        }
      </Loaded>
      {add !== undefined && <UpstreamModal onClose={close} />}
    </>
  );
}
