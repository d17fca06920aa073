import { Controller, Delete, Get, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { NotFound } from '../common/api/domain-error.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { MemberListResponse, MemberRemovedResponse, MemberResponse } from './dto/member.response.js';
import { ChangeRoleDto } from './dto/organization.requests.js';
import { MembersService } from './members.service.js';
import { AdminsOnly, LastAdmin, PersonalOrganization } from './model/organizations.errors.js';
import { AdminOnly, Scope } from './scope/owner-scope.js';
import type { OwnerScope } from './scope/owner-scope.js';

/** Alias of the caller in the path. */
const CALLER = 'me';
const FOR_CALLER = `\`${CALLER}\` addresses the caller.`;

@ApiTags('Organizations')
@Controller('me/organizations/:organizationId/members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Operation('listMembers', 'List members', {
    description: 'In the order in which they joined.',
    response: MemberListResponse,
  })
  @Get()
  async list(@Scope() scope: OwnerScope): Promise<MemberListResponse> {
    return { members: await this.members.list(scope) };
  }

  @Operation('changeRole', 'Change the role of a member', {
    description: FOR_CALLER,
    response: MemberResponse,
    rejects: [NotFound, LastAdmin],
  })
  @AdminOnly('change roles')
  @Put(':userId')
  changeRole(
    @Scope() scope: OwnerScope,
    @Param('userId') userId: string,
    @JsonBody() { role }: ChangeRoleDto,
  ): Promise<MemberResponse> {
    return this.members.changeRole(scope, subject(scope, userId), role);
  }

  /** Serves admins and members who leave. The service checks which rule applies. */
  @Operation('removeMember', 'Remove a member, or leave', {
    description: `${FOR_CALLER} Revokes the member's keys of the organization.`,
    response: MemberRemovedResponse,
    rejects: [new AdminsOnly('remove members'), NotFound, LastAdmin, new PersonalOrganization('left')],
  })
  @Delete(':userId')
  async remove(@Scope() scope: OwnerScope, @Param('userId') userId: string): Promise<MemberRemovedResponse> {
    return { status: 'removed', revoked_keys: await this.members.remove(scope, subject(scope, userId)) };
  }
}

function subject({ user }: OwnerScope, userId: string): string {
  return userId === CALLER ? user.id : userId;
}
