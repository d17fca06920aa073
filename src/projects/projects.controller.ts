import { Delete, Get, HttpCode, HttpStatus, Param, ParseIntPipe, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { NotFound } from '../common/api/domain-error.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { AdminOnly, OwnedController, Scope } from '../organizations/scope/owner-scope.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { CreateProjectDto, UpdateProjectDto } from './dto/project.requests.js';
import { ProjectListResponse, ProjectResponse } from './dto/project.response.js';
import { DescriptionsTooLong, NameTaken, TooManyProjects } from './projects.errors.js';
import { ProjectsService } from './projects.service.js';

@ApiTags('Projects')
@OwnedController('projects')
export class ProjectsController {
  constructor(private readonly projects: ProjectsService) {}

  @Operation('listProjects', 'List projects', {
    description: 'Ordered by id, without the documents.',
    response: ProjectListResponse,
  })
  @Get()
  async list(@Scope() scope: OwnerScope): Promise<ProjectListResponse> {
    return { projects: await this.projects.list(scope) };
  }

  @Operation('createProject', 'Create a project', {
    description: 'The name must be unique among the projects of the owner.',
    response: ProjectResponse,
    rejects: [NameTaken, DescriptionsTooLong, TooManyProjects],
  })
  @AdminOnly('create projects')
  @Post()
  async create(@Scope() scope: OwnerScope, @JsonBody() body: CreateProjectDto): Promise<ProjectResponse> {
    return this.projects.create(scope, body);
  }

  @Operation('getProject', 'Get a project', {
    description: 'Returns the project without its documents.',
    response: ProjectResponse,
    rejects: [NotFound],
  })
  @Get(':projectId')
  async get(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) id: number,
  ): Promise<ProjectResponse> {
    return this.projects.get(scope, id);
  }

  @Operation('updateProject', 'Rename or describe a project', {
    description: 'Members that are absent or null keep their value.',
    response: ProjectResponse,
    rejects: [NotFound, NameTaken, DescriptionsTooLong],
  })
  @AdminOnly('update projects')
  @Put(':projectId')
  async update(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) id: number,
    @JsonBody() body: UpdateProjectDto,
  ): Promise<ProjectResponse> {
    return this.projects.update(scope, id, body);
  }

  @Operation('deleteProject', 'Delete a project with its documents', {
    description: 'Cannot be undone.',
    rejects: [NotFound],
  })
  @AdminOnly('delete projects')
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete(':projectId')
  async delete(@Scope() scope: OwnerScope, @Param('projectId', ParseIntPipe) id: number): Promise<void> {
    await this.projects.delete(scope, id);
  }
}
