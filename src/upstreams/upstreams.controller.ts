import { Delete, Get, HttpCode, HttpStatus, Param, ParseIntPipe, Post, Put } from '@nestjs/common';
import { JsonBody } from '../common/json-body.js';
import { AdminOnly, OwnedController, Scope } from '../organizations/owner-scope.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { CreateUpstreamDto, UpdateUpstreamDto } from './dto/upstream.requests.js';
import { UpstreamListResponse, UpstreamResponse, UpstreamTestResponse } from './dto/upstream.response.js';
import { UpstreamsService } from './upstreams.service.js';

@OwnedController('upstreams')
export class UpstreamsController {
  constructor(private readonly upstreams: UpstreamsService) {}

  @AdminOnly('list upstreams')
  @Get()
  async list(@Scope() scope: OwnerScope): Promise<UpstreamListResponse> {
    return { upstreams: await this.upstreams.list(scope) };
  }

  @AdminOnly('create upstreams')
  @Post()
  create(@Scope() scope: OwnerScope, @JsonBody() body: CreateUpstreamDto): Promise<UpstreamResponse> {
    return this.upstreams.create(scope, body);
  }

  @AdminOnly('read upstreams')
  @Get(':upstreamId')
  get(@Scope() scope: OwnerScope, @Param('upstreamId', ParseIntPipe) id: number): Promise<UpstreamResponse> {
    return this.upstreams.get(scope, id);
  }

  @AdminOnly('update upstreams')
  @Put(':upstreamId')
  update(
    @Scope() scope: OwnerScope,
    @Param('upstreamId', ParseIntPipe) id: number,
    @JsonBody() body: UpdateUpstreamDto,
  ): Promise<UpstreamResponse> {
    return this.upstreams.update(scope, id, body);
  }

  @AdminOnly('delete upstreams')
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete(':upstreamId')
  delete(@Scope() scope: OwnerScope, @Param('upstreamId', ParseIntPipe) id: number): Promise<void> {
    return this.upstreams.delete(scope, id);
  }

  /** Takes no body. What is wrong with the upstream is the answer, not an error. */
  @AdminOnly('test upstreams')
  @HttpCode(HttpStatus.OK)
  @Post(':upstreamId/test')
  test(
    @Scope() scope: OwnerScope,
    @Param('upstreamId', ParseIntPipe) id: number,
  ): Promise<UpstreamTestResponse> {
    return this.upstreams.test(scope, id);
  }
}
