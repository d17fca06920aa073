import { About, Name, OpaqueText, Optional, Slug } from '../../../common/body/fields.js';

export class CreateDocumentDto {
  @About('1 to 255 characters after trimming.', 'Getting started')
  @Name('invalid_title')
  title: string;

  @About('Unique within the project.', 'getting-started')
  @Slug()
  slug: string;

  @About(
    'Markdown, stored byte for byte; empty when left out.',
    '# Getting started\n\nRead [[house-rules]] first.\n',
  )
  @Optional()
  @OpaqueText()
  content?: string;
}

/** Members that are left out or null stay unchanged. */
export class UpdateDocumentDto {
  @About('1 to 255 characters after trimming.', 'First steps')
  @Optional()
  @Name('invalid_title')
  title?: string;

  @About('Unique within the project. A change of the slug changes nothing else.', 'first-steps')
  @Optional()
  @Slug()
  slug?: string;

  @About('Replaces the whole text.', '# First steps\n')
  @Optional()
  @OpaqueText()
  content?: string;
}
