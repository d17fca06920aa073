import { Button, Switch } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { keysRoute } from '../routes';
import { EmptyState } from '../ui/empty-state';
import { Loaded } from '../ui/loaded';
import { PageHeader } from '../ui/page-header';
import { KeyList } from './key-list';
import { LoginCommand } from './login-command';
import { MintModal } from './mint-modal';
import { organizationKeysQuery } from './queries';

/** Keys for the proxy: all keys for admins of a team, otherwise only the own ones. */
export function KeysPage(): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  const { revoked } = keysRoute.useSearch();
  const includesRevoked = revoked === 'true';
  const keys = useQuery(organizationKeysQuery(owner.id, includesRevoked));
  const navigate = useNavigate({ from: keysRoute.fullPath });
  const [isMinting, { open, close }] = useDisclosure();
  const seesAll = owner.kind === 'team' && isAdmin;
  const button = <MintButton onClick={open} />;
  return (
    <>
      <PageHeader
        title="Keys"
        text={
          seesAll
            ? 'Keys of all members. Tools send them to use the models.'
            : 'Tools send a key to use the models.'
        }
      >
        <Switch
          label="Show revoked"
          checked={includesRevoked}
          onChange={() => void navigate({ search: includesRevoked ? {} : { revoked: 'true' } })}
        />
        {keys.data?.length !== 0 && button}
      </PageHeader>
      <LoginCommand />
      <Loaded query={keys}>
        {(list) =>
          list.length > 0 ? (
            <KeyList keys={list} showsHolder={seesAll} />
          ) : (
            <EmptyState
              icon={IconKey}
              title="No keys yet"
              text="A key lets a tool use the models of this organization. Mint one for each tool: an editor, a script, a command line."
            >
              {button}
            </EmptyState>
          )
        }
      </Loaded>
      {isMinting && <MintModal owner={owner.id} onClose={close} />}
    </>
  );
}

function MintButton({ onClick }: { onClick: () => void }): ReactNode {
  return (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={onClick}>
      Mint a key
    </Button>
  );
}
