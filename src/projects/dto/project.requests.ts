import { Name, Optional, Text } from '../../common/fields.js';

export class CreateProjectDto {
  /** 1 to 255 characters after trimming; unique within the owner. */
  @Name('invalid_name')
  name: string;

  /** Stored as it comes; empty when left out. */
  @Optional()
  @Text()
  description?: string;
}

/** What is left out or null stays as it is. */
export class UpdateProjectDto {
  @Optional()
  @Name('invalid_name')
  name?: string;

  @Optional()
  @Text()
  description?: string;
}
