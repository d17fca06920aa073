import { Delete, Get, HttpCode, HttpStatus, Param, ParseIntPipe, Post, Put } from '@nestjs/common';
import { JsonBody } from '../common/json-body.js';
import { AdminOnly, OwnedController, Scope } from '../organizations/owner-scope.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { CreateProjectDto, UpdateProjectDto } from './dto/project.requests.js';
import { ProjectListResponse, ProjectResponse } from './dto/project.response.js';
import { ProjectsService } from './projects.service.js';

@OwnedController('projects')
export class ProjectsController {
  constructor(private readonly projects: ProjectsService) {}

  @Get()
  async list(@Scope() scope: OwnerScope): Promise<ProjectListResponse> {
    return { projects: await this.projects.list(scope) };
  }

  @AdminOnly('create projects')
  @Post()
  async create(@Scope() scope: OwnerScope, @JsonBody() body: CreateProjectDto): Promise<ProjectResponse> {
    return ProjectResponse.from(await this.projects.create(scope, body));
  }

  @Get(':projectId')
  async get(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) id: number,
  ): Promise<ProjectResponse> {
    return this.projects.get(scope, id);
  }

  @AdminOnly('update projects')
  @Put(':projectId')
  async update(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) id: number,
    @JsonBody() body: UpdateProjectDto,
  ): Promise<ProjectResponse> {
    return this.projects.update(scope, id, body);
  }

  @AdminOnly('delete projects')
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete(':projectId')
  async delete(@Scope() scope: OwnerScope, @Param('projectId', ParseIntPipe) id: number): Promise<void> {
    await this.projects.delete(scope, id);
  }
}
