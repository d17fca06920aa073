import { Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Key } from '../keys/queries';
import { useIsAdmin } from '../organizations/owner';
import { FormSkeleton } from '../ui/skeletons';
import { Loaded } from '../ui/loaded';
import { Consumption } from './consumption';
import { LimitForm } from './limit-form';
import { limitsAnything } from './limit-values';
import { changeKeyLimits, keyLimitsQuery } from './queries';
import type { LimitChange } from './queries';

/** Limits of one key. Holders of a team's key see them; admins change them. */
export function KeyLimitsModal({ item, onClose }: { item: Key; onClose: () => void }): ReactNode {
  const isAdmin = useIsAdmin();
  const { id, organization_id: owner } = item;
  const limits = useQuery(keyLimitsQuery(owner, id, isAdmin));
  const onSave = async (change: LimitChange) => {
    const stored = await changeKeyLimits(owner, id, change);
    onClose();
    return stored;
  };
  return (
    <Modal opened centered size="lg" title={`Limits of ${item.name || 'the key'}`} onClose={onClose}>
      <Loaded query={limits} skeleton={<FormSkeleton />}>
        {(data) => (
          <Stack>
            <Text size="sm" c="dimmed">
              They apply to this key, in addition to those of the settings.
              {!isAdmin && ' Only admins of the team can change them.'}
            </Text>
            <Consumption limits={data.limits} status={data.status} of="the key" />
            {!isAdmin && !limitsAnything(data.limits) ? (
              <Text size="sm">There are none.</Text>
            ) : (
              <LimitForm limits={data.limits} isReadOnly={!isAdmin} onSave={onSave} onCancel={onClose} />
            )}
          </Stack>
        )}
      </Loaded>
    </Modal>
  );
}
