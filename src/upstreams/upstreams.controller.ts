import { Delete, Get, HttpCode, HttpStatus, Param, ParseIntPipe, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { NotFound } from '../common/api/domain-error.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { AdminOnly, OwnedController, Scope } from '../organizations/scope/owner-scope.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { CreateUpstreamDto, UpdateUpstreamDto } from './dto/upstream.requests.js';
import { UpstreamListResponse, UpstreamResponse, UpstreamCheckResponse } from './dto/upstream.response.js';
import { ModelRulesTooLong, NameTaken, TooManyUpstreams } from './upstreams.errors.js';
import { UpstreamsService } from './upstreams.service.js';

@ApiTags('Upstreams')
@OwnedController('upstreams')
export class UpstreamsController {
  constructor(private readonly upstreams: UpstreamsService) {}

  @Operation('listUpstreams', 'List upstreams', {
    description: 'Includes disabled upstreams. API keys are never returned.',
    response: UpstreamListResponse,
  })
  @AdminOnly('list upstreams')
  @Get()
  async list(@Scope() scope: OwnerScope): Promise<UpstreamListResponse> {
    return { upstreams: await this.upstreams.list(scope) };
  }

  @Operation('createUpstream', 'Add an upstream', {
    description: 'The API key is stored encrypted and never returned.',
    response: UpstreamResponse,
    rejects: [NameTaken, TooManyUpstreams, ModelRulesTooLong],
  })
  @AdminOnly('create upstreams')
  @Post()
  create(@Scope() scope: OwnerScope, @JsonBody() body: CreateUpstreamDto): Promise<UpstreamResponse> {
    return this.upstreams.create(scope, body);
  }

  @Operation('getUpstream', 'Get an upstream', {
    description: 'Returns the last 4 characters of the API key only.',
    response: UpstreamResponse,
    rejects: [NotFound],
  })
  @AdminOnly('read upstreams')
  @Get(':upstreamId')
  get(@Scope() scope: OwnerScope, @Param('upstreamId', ParseIntPipe) id: number): Promise<UpstreamResponse> {
    return this.upstreams.get(scope, id);
  }

  @Operation('updateUpstream', 'Change an upstream', {
    description:
      'Members that are absent keep their value. The new values apply to the next request of the proxy.',
    response: UpstreamResponse,
    rejects: [NotFound, NameTaken, ModelRulesTooLong],
  })
  @AdminOnly('update upstreams')
  @Put(':upstreamId')
  update(
    @Scope() scope: OwnerScope,
    @Param('upstreamId', ParseIntPipe) id: number,
    @JsonBody() body: UpdateUpstreamDto,
  ): Promise<UpstreamResponse> {
    return this.upstreams.update(scope, id, body);
  }

  @Operation('deleteUpstream', 'Remove an upstream', {
    description:
      'The next request of the proxy does not use the upstream any more. Its usage records remain.',
    rejects: [NotFound],
  })
  @AdminOnly('delete upstreams')
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete(':upstreamId')
  delete(@Scope() scope: OwnerScope, @Param('upstreamId', ParseIntPipe) id: number): Promise<void> {
    return this.upstreams.delete(scope, id);
  }

  /** Takes no body. A fault of the upstream is part of the response, not an error. */
  @Operation('testUpstream', 'Test an upstream by listing its models', {
    description: 'A fault of the upstream is part of the response, not an error.',
    response: UpstreamCheckResponse,
    rejects: [NotFound],
  })
  @AdminOnly('test upstreams')
  @HttpCode(HttpStatus.OK)
  @Post(':upstreamId/test')
  test(
    @Scope() scope: OwnerScope,
    @Param('upstreamId', ParseIntPipe) id: number,
  ): Promise<UpstreamCheckResponse> {
    return this.upstreams.test(scope, id);
  }
}
