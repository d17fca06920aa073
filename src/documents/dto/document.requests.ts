import { Name, OpaqueText, Optional, Slug } from '../../common/fields.js';

export class CreateDocumentDto {
  /** 1 to 255 characters after trimming. */
  @Name('invalid_title')
  title: string;

  /** Unique within the project. */
  @Slug()
  slug: string;

  /** Markdown, stored byte for byte; empty when left out. */
  @Optional()
  @OpaqueText()
  content?: string;
}

/** What is left out or null stays as it is. */
export class UpdateDocumentDto {
  @Optional()
  @Name('invalid_title')
  title?: string;

  @Optional()
  @Slug()
  slug?: string;

  @Optional()
  @OpaqueText()
  content?: string;
}
