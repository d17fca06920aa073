import type { DocumentWithContent } from '../document-with-content.js';

/** A document as lists show it. */
export class DocumentSummaryResponse {
  id: number;
  project_id: number;
  title: string;
  slug: string;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  updated_at: string;
}

export class DocumentListResponse {
  documents: DocumentSummaryResponse[];
}

export class DocumentResponse extends DocumentSummaryResponse {
  /** Markdown, byte for byte as it was stored. */
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
