import { Modal, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { FormEvent, ReactNode } from 'react';
import { createDocument, documentsQuery } from '../documents/queries';
import { organizationsQuery, ownerName } from '../organizations/queries';
import { projectsQuery } from '../projects/queries';
import type { Project } from '../projects/queries';
import { slugify, uniqueSlug } from '../text/slug';
import { ErrorNotice } from '../ui/error-notice';
import { FormButtons } from '../ui/forms/form-buttons';

interface Props {
  readonly title: string;
  readonly slug: string;
  readonly text: () => string;
  readonly onRescued: () => void;
  readonly onClose: () => void;
}

/** Saves a text as a new document, in any project that the person may change. */
export function SaveAsModal({ slug, text, onRescued, onClose, ...props }: Props): ReactNode {
  const { groups, projects } = useWritableProjects();
  const [title, setTitle] = useState(props.title);
  const [chosen, setChosen] = useState<string | null>(null);
  const project = projects.find(({ id }) => String(id) === chosen);
  const create = useCreate(() => {
    onRescued();
    onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (project) create.mutate({ project, title: title.trim() || props.title, slug, content: text() });
  };
  return (
    <Modal opened centered title="Save as a new document" onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <Select
            label="Project"
            placeholder="Choose a project"
            data={groups}
            value={chosen}
            onChange={setChosen}
            nothingFoundMessage="There is no project that you may change. Create one first."
            searchable
          />
          <TextInput
            label="Title"
            value={title}
            maxLength={255}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          {create.isError && <ErrorNotice error={create.error} />}
          <FormButtons
            label="Save document"
            isPending={create.isPending}
            isDisabled={!project}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}

interface NewDocument {
  readonly project: Project;
  readonly title: string;
  readonly slug: string;
  readonly content: string;
}

/** Creates the document with the old slug, or with a number behind it if the slug is taken, and opens it. */
function useCreate(onCreated: () => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async ({ project, title, slug, content }: NewDocument) => {
      const { organization_id: owner, id } = project;
      const documents = await queryClient.fetchQuery({ ...documentsQuery(owner, id), staleTime: 0 });
      const taken = new Set(documents.map((document) => document.slug));
      const unique = uniqueSlug(slug || slugify(title), (candidate) => taken.has(candidate));
      return createDocument(owner, id, { title, slug: unique, content });
    },
    onSuccess: ({ id }, { project }) => {
      onCreated();
      return navigate({
        to: '/o/$owner/projects/$project/documents/$document',
        params: { owner: String(project.organization_id), project: String(project.id), document: String(id) },
      });
    },
    meta: { isShownInForm: true },
  });
}

/** Projects of all organizations in which the person is an admin. They are loaded again, because one may be deleted. */
function useWritableProjects() {
  const { data: organizations = [] } = useQuery(organizationsQuery);
  const own = organizations.filter(({ role }) => role === 'admin');
  const results = useQueries({
    queries: own.map(({ id }) => ({ ...projectsQuery(id), staleTime: 0 })),
  });
  const lists = results.map(({ data }) => data ?? []);
  const groups = own.map((organization, index) => ({
    group: ownerName(organization),
    items: lists[index]!.map(({ id, name }) => ({ value: String(id), label: name })),
  }));
  return { groups, projects: lists.flat() };
}
