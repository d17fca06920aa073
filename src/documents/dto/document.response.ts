import { ID, listOf, Shown, text, TIME } from '../../common/members.js';
import type { DocumentWithContent } from '../document-body.js';

/** A document as lists show it. */
export class DocumentSummaryResponse {
  @Shown(ID)
  id: number;

  @Shown(ID)
  project_id: number;

  @Shown(text('Getting started'))
  title: string;

  @Shown(text('getting-started'), 'What `[[...]]` links name; the service itself resolves none.')
  slug: string;

  @Shown(TIME)
  created_at: string;

  @Shown(TIME, 'Changes on every successful PUT and never goes back.')
  updated_at: string;
}

export class DocumentListResponse {
  @Shown(listOf(DocumentSummaryResponse), 'All of them, by id.')
  documents: DocumentSummaryResponse[];
}

export class DocumentResponse extends DocumentSummaryResponse {
  @Shown(text('# Getting started\n'), 'Markdown, byte for byte as it was stored.')
  content: string;

  static from({ document, content }: DocumentWithContent): DocumentResponse {
    const { id, projectId, title, slug, createdAt, updatedAt } = document;
    return {
      id,
      project_id: projectId,
      title,
      slug,
      created_at: createdAt,
      updated_at: updatedAt,
      content,
    };
  }
}
