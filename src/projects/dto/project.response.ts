import { ID, listOf, Shown, text, TIME } from '../../common/members.js';
import type { Project } from '../project.entity.js';

export class ProjectResponse {
  @Shown(ID)
  id: number;

  @Shown(ID, 'The owner.')
  organization_id: number;

  @Shown(text('Handbook'))
  name: string;

  @Shown(text('How we work'), 'Empty when there is none.')
  description: string;

  @Shown(TIME)
  created_at: string;

  @Shown(TIME, 'Changes on every successful PUT and never goes back.')
  updated_at: string;

  static from({ id, organizationId, name, description, createdAt, updatedAt }: Project): ProjectResponse {
    return {
      id,
      organization_id: organizationId,
      name,
      description,
      created_at: createdAt,
      updated_at: updatedAt,
    };
  }
}

export class ProjectListResponse {
  @Shown(listOf(ProjectResponse), 'All of them, by id.')
  projects: ProjectResponse[];
}
