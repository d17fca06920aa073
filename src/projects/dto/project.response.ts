import type { Project } from '../project.entity.js';

export class ProjectResponse {
  id: number;
  organization_id: number;
  name: string;
  description: string;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
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
  projects: ProjectResponse[];
}
