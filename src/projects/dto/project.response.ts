import { ID, listOf, ApiMember, text, TIME } from '../../common/api/members.js';

export class ProjectResponse {
  @ApiMember(ID)
  id: number;

  @ApiMember(ID, 'The owner.')
  organization_id: number;

  @ApiMember(text('Handbook'))
  name: string;

  @ApiMember(text('How we work'), 'Empty if the project has none.')
  description: string;

  @ApiMember(TIME)
  created_at: string;

  @ApiMember(TIME, 'Increases with every successful PUT.')
  updated_at: string;
}

export class ProjectListResponse {
  @ApiMember(listOf(ProjectResponse), 'All projects, ordered by id.')
  projects: ProjectResponse[];
}
