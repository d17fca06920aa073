import { Anchor, List, Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { documentsQuery } from '../documents/queries';
import { useProject } from '../projects/project';
import { Loaded } from '../ui/loaded';
import { contentsQuery } from './contents';
import type { Contents } from './contents';
import { buildLinkGraph } from './link-index';

/** Lists the wikilinks of the project whose target does not exist. */
export default function BrokenLinksModal({ onClose }: { onClose: () => void }): ReactNode {
  const { organization_id: owner, id: project } = useProject();
  const contents = useQuery(contentsQuery(owner, project));
  return (
    <Modal opened centered title="Broken links" onClose={onClose}>
      <Loaded query={contents}>{(data) => <BrokenLinks contents={data} />}</Loaded>
    </Modal>
  );
}

function BrokenLinks({ contents }: { contents: Contents }): ReactNode {
  const { organization_id: owner, id: project } = useProject();
  const { data: documents = [] } = useQuery(documentsQuery(owner, project));
  const { broken } = useMemo(() => buildLinkGraph(documents, contents.bySlug), [documents, contents]);
  if (broken.length === 0)
    return <Text size="sm">All links between the documents of this project work.</Text>;
  return (
    <List size="sm" spacing="xs">
      {broken.map(({ document, target }) => (
        <List.Item key={`${document.id} ${target}`}>
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link
                to="/o/$owner/projects/$project/documents/$document"
                params={{ owner: String(owner), project: String(project), document: String(document.id) }}
                {...props}
              />
            )}
          >
            {document.title}
          </Anchor>{' '}
          links to <code>[[{target}]]</code>
        </List.Item>
      ))}
    </List>
  );
}
