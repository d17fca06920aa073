import { Controller, Delete, Get, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { NotFound } from '../common/domain-error.js';
import { JsonBody } from '../common/json-body.js';
import { Operation } from '../common/operation.js';
import { MemberListResponse, MemberRemovedResponse, MemberResponse } from './dto/member.response.js';
import { ChangeRoleDto } from './dto/organization.requests.js';
import { MembersService } from './members.service.js';
import { AdminsOnly, LastAdmin, PersonalOrganization } from './organizations.errors.js';
import { AdminOnly, Scope } from './owner-scope.js';
import type { OwnerScope } from './owner-scope.js';

/** Stands for the caller's user id in the path. */
const CALLER = 'me';
const FOR_CALLER = `\`${CALLER}\` stands for the caller.`;

@ApiTags('Organizations')
@Controller('me/organizations/:organizationId/members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Operation('listMembers', 'List members', { answers: MemberListResponse })
  @Get()
  async list(@Scope() scope: OwnerScope): Promise<MemberListResponse> {
    return { members: await this.members.list(scope) };
  }

  @Operation('changeRole', 'Change the role of a member', {
    description: FOR_CALLER,
    answers: MemberResponse,
    refuses: [NotFound, LastAdmin],
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

  /** For admins, and for members who leave: the service tells them apart. */
  @Operation('removeMember', 'Remove a member, or leave', {
    description: `${FOR_CALLER} Revokes the keys that the member has for the organization.`,
    answers: MemberRemovedResponse,
    refuses: [new AdminsOnly('remove members'), NotFound, LastAdmin, new PersonalOrganization('left')],
  })
  @Delete(':userId')
  async remove(@Scope() scope: OwnerScope, @Param('userId') userId: string): Promise<MemberRemovedResponse> {
    return { status: 'removed', revoked_keys: await this.members.remove(scope, subject(scope, userId)) };
  }
}

function subject({ user }: OwnerScope, userId: string): string {
  return userId === CALLER ? user.id : userId;
}
