import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { NotFound } from '../common/api/domain-error.js';
import { assertWithinCap } from '../database/transactions/caps.js';
import type { Cap } from '../database/transactions/caps.js';
import { advancedUpdatedAt } from '../database/connection/columns.js';
import { PreparedQueries } from '../database/connection/prepared-queries.js';
import { Transactions } from '../database/transactions/transactions.js';
import { translateViolation } from '../database/transactions/translate-violation.js';
import { OrganizationDeleting } from '../organizations/membership-events.js';
import { OrganizationNotFound } from '../organizations/model/organizations.errors.js';
import { lockAdminRole } from '../organizations/scope/organization-locks.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import type { CreateProjectDto, UpdateProjectDto } from './dto/project.requests.js';
import type { ProjectResponse } from './dto/project.response.js';
import { assertDescriptionsBounded } from './project-rules.js';
import { Project } from './project.entity.js';
import { NameTaken, PROJECTS_MAX, TooManyProjects } from './projects.errors.js';

/** Notifies of the deletion of one project or of all projects of an organization, whose rows are locked. */
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

const PROJECTS_CAP: Cap = {
  objects: 'projects',
  max: PROJECTS_MAX,
  rows: 'FROM projects WHERE organization_id = $1',
  Rejection: TooManyProjects,
};

/** Projects of an owner. A project of another owner is reported as not found. */
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
   * @throws OrganizationNotFound @throws AdminsOnly if the caller lost the role since the request arrived
   * @throws NameTaken @throws DescriptionsTooLong @throws TooManyProjects
   */
  create(scope: OwnerScope, { name, description = '' }: CreateProjectDto): Promise<ProjectResponse> {
    const { organizationId } = scope;
    return this.transactions.run(async (transaction) => {
      await lockAdminRole(scope, 'create projects', transaction);
      const result = await transaction
        .createQueryBuilder()
        .insert()
        .into(Project)
        .values({ organizationId, name, description })
        .returning(COLUMNS)
        .updateEntity(false)
        .execute()
        .catch(rejectViolation);
      if (description) await assertDescriptions(scope, 0, transaction);
      await assertWithinCap(PROJECTS_CAP, scope.organizationId, transaction);
      const [project] = result.raw as ProjectResponse[];
      return project!;
    });
  }

  /**
   * Members that are undefined keep their values.
   * @throws OrganizationNotFound @throws AdminsOnly if the caller lost the role since the request arrived
   * @throws NotFound @throws NameTaken @throws DescriptionsTooLong
   */
  update(scope: OwnerScope, id: number, { name, description }: UpdateProjectDto): Promise<ProjectResponse> {
    return this.transactions.run(async (transaction) => {
      await lockAdminRole(scope, 'update projects', transaction);
      const bytesBefore = description ? await descriptionBytes(scope, transaction) : 0;
      const result = await transaction
        .createQueryBuilder()
        .update(Project)
        .set({ name, description, updatedAt: advancedUpdatedAt })
        .where({ id, organizationId: scope.organizationId })
        .returning(COLUMNS)
        .execute()
        .catch(rejectViolation);
      const [project] = result.raw as ProjectResponse[];
      if (!project) throw new NotFound();
      if (description) await assertDescriptions(scope, bytesBefore, transaction);
      return project;
    });
  }

  /**
   * Deletes the project and, through {@link ProjectsDeleting}, its documents.
   * @throws OrganizationNotFound @throws AdminsOnly if the caller lost the role since the request arrived
   * @throws NotFound
   */
  async delete(scope: OwnerScope, id: number): Promise<void> {
    await this.transactions.run(async (transaction) => {
      await lockAdminRole(scope, 'delete projects', transaction);
      const project = await transaction.findOne(Project, {
        where: { id, organizationId: scope.organizationId },
        lock: { mode: 'pessimistic_write' }, // no document can be added any more
      });
      if (!project) throw new NotFound();
      await this.transactions.emit(new ProjectsDeleting({ projectId: id }), transaction);
      await transaction.delete(Project, { id });
    });
  }

  /** Locks the rows, so that no document can be added. The deletion of the organization deletes the rows. */
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

/** @throws NameTaken @throws OrganizationNotFound */
function rejectViolation(error: unknown): never {
  return translateViolation(error, {
    projects_organization_id_name_key: NameTaken,
    projects_organization_id_fkey: OrganizationNotFound,
  });
}

/**
 * Concurrent transactions do not see each other's descriptions. Together they can exceed the limit by a little.
 * @throws DescriptionsTooLong unless the descriptions have become shorter
 */
async function assertDescriptions(
  scope: OwnerScope,
  bytesBefore: number,
  transaction: EntityManager,
): Promise<void> {
  assertDescriptionsBounded(await descriptionBytes(scope, transaction), bytesBefore);
}

async function descriptionBytes({ organizationId }: OwnerScope, transaction: EntityManager): Promise<number> {
  const [descriptions] = await transaction.query<{ bytes: number }[]>(
    'SELECT coalesce(sum(octet_length(description)), 0) AS bytes FROM projects WHERE organization_id = $1',
    [organizationId],
  );
  return descriptions!.bytes;
}
