import { Controller, Delete, Get, Param, Put } from '@nestjs/common';
import { JsonBody } from '../common/json-body.js';
import { MemberListResponse, MemberRemovedResponse, MemberResponse } from './dto/member.response.js';
import { ChangeRoleDto } from './dto/organization.requests.js';
import { MembersService } from './members.service.js';
import { AdminOnly, Scope } from './owner-scope.js';
import type { OwnerScope } from './owner-scope.js';

/** Stands for the caller's user id in the path. */
const CALLER = 'me';

@Controller('me/organizations/:organizationId/members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Get()
  async list(@Scope() scope: OwnerScope): Promise<MemberListResponse> {
    return { members: await this.members.list(scope) };
  }

  @AdminOnly('change roles')
  @Put(':userId')
  changeRole(
    @Scope() scope: OwnerScope,
    @Param('userId') userId: string,
    @JsonBody() { role }: ChangeRoleDto,
  ): Promise<MemberResponse> {
    return this.members.changeRole(scope, subject(scope, userId), role);
  }

  /** For admins, and for members who leave: the service tells them apart. */
  @Delete(':userId')
  async remove(@Scope() scope: OwnerScope, @Param('userId') userId: string): Promise<MemberRemovedResponse> {
    return { status: 'removed', revoked_keys: await this.members.remove(scope, subject(scope, userId)) };
  }
}

function subject({ user }: OwnerScope, userId: string): string {
  return userId === CALLER ? user.id : userId;
}
