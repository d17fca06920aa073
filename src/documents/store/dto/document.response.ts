import { ID, listOf, ApiMember, text, TIME } from '../../../common/api/members.js';

/** A document as lists show it. */
export class DocumentSummaryResponse {
  @ApiMember(ID)
  id: number;

  @ApiMember(ID)
  project_id: number;

  @ApiMember(text('Getting started'))
  title: string;

  @ApiMember(text('getting-started'), 'Target of `[[...]]` links; the service itself resolves none.')
  slug: string;

  @ApiMember(TIME)
  created_at: string;

  @ApiMember(TIME, 'Changes on every successful PUT and never goes back.')
  updated_at: string;
}

export class DocumentListResponse {
  @ApiMember(listOf(DocumentSummaryResponse), 'All documents of the project, by id.')
  documents: DocumentSummaryResponse[];
}

export class DocumentResponse extends DocumentSummaryResponse {
  @ApiMember(text('# Getting started\n'), 'Markdown, byte for byte as it was stored.')
  content: string;
}
