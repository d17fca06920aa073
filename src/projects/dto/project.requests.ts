import { About, Name, Optional, Text } from '../../common/fields.js';

export class CreateProjectDto {
  @About('1 to 255 characters after trimming; unique within the owner.', 'Handbook')
  @Name('invalid_name')
  name: string;

  @About('Stored as it comes; empty when left out.', 'How we work')
  @Optional()
  @Text()
  description?: string;
}

/** What is left out or null stays as it is. */
export class UpdateProjectDto {
  @About('1 to 255 characters after trimming; unique within the owner.', 'Team handbook')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('Stored as it comes.', 'How we work together')
  @Optional()
  @Text()
  description?: string;
}
