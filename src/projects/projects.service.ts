import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { NotFound } from '../common/domain-error.js';
import { advancedUpdatedAt } from '../database/change.js';
import { PreparedQueries } from '../database/prepared.js';
import { violatesForeignKey, violatesUnique } from '../database/sql-states.js';
import { Transactions } from '../database/transactions.js';
import { OrganizationDeleting } from '../organizations/membership-events.js';
import { OrganizationNotFound } from '../organizations/organizations.errors.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import type { CreateProjectDto, UpdateProjectDto } from './dto/project.requests.js';
import type { ProjectResponse } from './dto/project.response.js';
import { Project } from './project.entity.js';
import { DESCRIPTIONS_BYTES, DescriptionsTooLong, NameTaken } from './projects.errors.js';

/** Projects, whose rows are locked, are about to go with all that is in them: one, or all of an organization. */
export class ProjectsDeleting {
  constructor(readonly which: { readonly projectId: number } | { readonly organizationId: number }) {}
}

const COLUMNS = 'id, organization_id, name, description, created_at, updated_at';

const LIST = {
  name: 'projects.list',
  text: `SELECT ${COLUMNS} FROM projects WHERE organization_id = $1 ORDER BY id`,
};

const GET = {
  name: 'projects.get',
  text: `SELECT ${COLUMNS} FROM projects WHERE id = $1 AND organization_id = $2`,
};

/** Projects of an owner. What belongs to another owner does not exist. */
@Injectable()
export class ProjectsService implements OnModuleInit {
  constructor(
    private readonly queries: PreparedQueries,
    private readonly transactions: Transactions,
  ) {}

  onModuleInit(): void {
    this.transactions.on(OrganizationDeleting, ({ organizationId }, transaction) =>
      this.releaseAll(organizationId, transaction),
    );
  }

  list(scope: OwnerScope): Promise<ProjectResponse[]> {
    return this.queries.rows<ProjectResponse>(LIST, [scope.organizationId]);
  }

  /** @throws NotFound */
  async get(scope: OwnerScope, id: number): Promise<ProjectResponse> {
    const [project] = await this.queries.rows<ProjectResponse>(GET, [id, scope.organizationId]);
    if (!project) throw new NotFound();
    return project;
  }

  /**
   * @throws NameTaken @throws DescriptionsTooLong
   * @throws OrganizationNotFound when the owner is deleted at this moment
   */
  create(scope: OwnerScope, { name, description }: CreateProjectDto): Promise<Project> {
    const { organizationId } = scope;
    return this.transactions.run(async (transaction) => {
      const project = transaction.create(Project, { organizationId, name, description: description ?? '' });
      await transaction.insert(Project, project).catch(asRefusal); // fills in what the database decides
      if (description) await assertBounded(scope, transaction);
      return project;
    });
  }

  /** Members that are undefined stay as they are. @throws NotFound @throws NameTaken @throws DescriptionsTooLong */
  update(scope: OwnerScope, id: number, { name, description }: UpdateProjectDto): Promise<ProjectResponse> {
    return this.transactions.run(async (transaction) => {
      const bytesBefore = description ? await descriptionBytes(scope, transaction) : 0;
      const result = await transaction
        .createQueryBuilder()
        .update(Project)
        .set({ name, description, updatedAt: advancedUpdatedAt })
        .where({ id, organizationId: scope.organizationId })
        .returning(COLUMNS)
        .execute()
        .catch(asRefusal);
      const [project] = result.raw as ProjectResponse[];
      if (!project) throw new NotFound();
      if (description) await assertBounded(scope, transaction, bytesBefore);
      return project;
    });
  }

  /** Deletes the project and, through {@link ProjectsDeleting}, what is in it. @throws NotFound */
  async delete(scope: OwnerScope, id: number): Promise<void> {
    await this.transactions.run(async (transaction) => {
      const project = await transaction.findOne(Project, {
        where: { id, organizationId: scope.organizationId },
        lock: { mode: 'pessimistic_write' }, // from here on nothing is added to the project
      });
      if (!project) throw new NotFound();
      await this.transactions.emit(new ProjectsDeleting({ projectId: id }), transaction);
      await transaction.delete(Project, { id });
    });
  }

  /** The rows themselves go with the organization's. From here on nothing is added to them. */
  private async releaseAll(organizationId: number, transaction: EntityManager): Promise<void> {
    await transaction.find(Project, {
      select: { id: true },
      where: { organizationId },
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
    await this.transactions.emit(new ProjectsDeleting({ organizationId }), transaction);
  }
}

/**
 * Those who write at the same time do not see each other: together they may come to a little more.
 * @throws DescriptionsTooLong unless they have become shorter
 */
async function assertBounded(scope: OwnerScope, transaction: EntityManager, bytesBefore = 0): Promise<void> {
  const bytes = await descriptionBytes(scope, transaction);
  if (bytes > Math.max(DESCRIPTIONS_BYTES, bytesBefore)) throw new DescriptionsTooLong();
}

async function descriptionBytes({ organizationId }: OwnerScope, transaction: EntityManager): Promise<number> {
  const [descriptions] = await transaction.query<{ bytes: number }[]>(
    'SELECT coalesce(sum(octet_length(description)), 0) AS bytes FROM projects WHERE organization_id = $1',
    [organizationId],
  );
  return descriptions!.bytes;
}

function asRefusal(error: unknown): never {
  if (violatesUnique(error, 'projects_organization_id_name_key')) throw new NameTaken();
  if (violatesForeignKey(error, 'projects_organization_id_fkey')) throw new OrganizationNotFound();
  throw error;
}
