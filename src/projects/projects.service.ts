import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { NotFound } from '../common/domain-error.js';
import { advancedUpdatedAt } from '../database/change.js';
import { violatesForeignKey, violatesUnique } from '../database/constraints.js';
import { PreparedQueries } from '../database/prepared.js';
import { Transactions } from '../database/transactions.js';
import { OrganizationNotFound } from '../organizations/organizations.errors.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import type { CreateProjectDto, UpdateProjectDto } from './dto/project.requests.js';
import type { ProjectResponse } from './dto/project.response.js';
import { Project } from './project.entity.js';
import { NameTaken } from './projects.errors.js';

/** The project's row is locked and about to go, with all that is in it. */
export class ProjectDeleting {
  constructor(readonly projectId: number) {}
}

const COLUMNS = 'id, organization_id, name, description, created_at, updated_at';

const LIST = {
  name: 'projects.list',
  text: `SELECT ${COLUMNS} FROM projects WHERE organization_id = $1 ORDER BY id`,
};

/** Projects of an owner. What belongs to another owner does not exist. */
@Injectable()
export class ProjectsService {
  constructor(
    @InjectRepository(Project) private readonly projects: Repository<Project>,
    private readonly queries: PreparedQueries,
    private readonly transactions: Transactions,
  ) {}

  list(scope: OwnerScope): Promise<ProjectResponse[]> {
    return this.queries.rows<ProjectResponse>(LIST, [scope.organizationId]);
  }

  /** @throws NotFound */
  async get(scope: OwnerScope, id: number): Promise<Project> {
    const project = await this.projects.findOneBy({ id, organizationId: scope.organizationId });
    if (!project) throw new NotFound();
    return project;
  }

  /** @throws NameTaken @throws OrganizationNotFound when the owner is deleted at this moment */
  async create(scope: OwnerScope, { name, description }: CreateProjectDto): Promise<Project> {
    const { organizationId } = scope;
    const project = this.projects.create({ organizationId, name, description: description ?? '' });
    await this.projects.insert(project).catch(refuse); // fills in what the database decides
    return project;
  }

  /** Members that are undefined stay as they are. @throws NotFound @throws NameTaken */
  async update(
    scope: OwnerScope,
    id: number,
    { name, description }: UpdateProjectDto,
  ): Promise<ProjectResponse> {
    const result = await this.projects
      .createQueryBuilder()
      .update({ name, description, updatedAt: advancedUpdatedAt })
      .where({ id, organizationId: scope.organizationId })
      .returning(COLUMNS)
      .execute()
      .catch(refuse);
    const [project] = result.raw as ProjectResponse[];
    if (!project) throw new NotFound();
    return project;
  }

  /** Deletes the project and, through {@link ProjectDeleting}, what is in it. @throws NotFound */
  async delete(scope: OwnerScope, id: number): Promise<void> {
    await this.transactions.run(async (transaction) => {
      const project = await transaction.findOne(Project, {
        where: { id, organizationId: scope.organizationId },
        lock: { mode: 'pessimistic_write' }, // from here on nothing is added to the project
      });
      if (!project) throw new NotFound();
      await this.transactions.emit(new ProjectDeleting(id), transaction);
      await transaction.delete(Project, { id });
    });
  }
}

function refuse(error: unknown): never {
  if (violatesUnique(error, 'projects_organization_id_name_key')) throw new NameTaken();
  if (violatesForeignKey(error, 'projects_organization_id_fkey')) throw new OrganizationNotFound();
  throw error;
}
