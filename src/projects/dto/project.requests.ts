import { About, Name, Optional, Text } from '../../common/body/fields.js';

export class CreateProjectDto {
  @About('1 to 255 characters after trimming; unique within the owner.', 'Handbook')
  @Name('invalid_name')
  name: string;

  @About('Stored unchanged; empty if absent.', 'How we work')
  @Optional()
  @Text()
  description?: string;
}

/** Members that are absent or null keep their values. */
export class UpdateProjectDto {
  @About('1 to 255 characters after trimming; unique within the owner.', 'Team handbook')
  @Optional()
  @Name('invalid_name')
  name?: string;

  @About('Stored unchanged.', 'How we work together')
  @Optional()
  @Text()
  description?: string;
}
