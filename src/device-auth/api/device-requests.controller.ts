import { Controller, Get, HttpCode, HttpStatus, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { CurrentUser } from '../../auth/session-user.js';
import type { SessionUser } from '../../auth/session-user.js';
import { OptionalJsonBody } from '../../common/body/json-body.js';
import { Operation } from '../../common/api/operation.js';
import { TooManyKeys } from '../../keys/keys.errors.js';
import { OrganizationNotFound } from '../../organizations/model/organizations.errors.js';
import { clientAddress } from '../flow/client-address.js';
import { DeviceApprovalService } from '../flow/device-approval.service.js';
import { InvalidUserCode, RateLimited } from '../flow/device-auth.errors.js';
import { ApproveDeviceDto, DeviceDecisionResponse, DeviceRequestResponse } from './dto/device-request.js';

const REJECTIONS = [InvalidUserCode, new RateLimited(60)];

/** JSON equivalent of the approval page, for dashboards with a page of their own. */
@ApiTags('Device flow')
@Controller('me/device-requests/:userCode')
export class DeviceRequestsController {
  constructor(private readonly approvals: DeviceApprovalService) {}

  @Operation('getDeviceRequest', 'Show the request of a device', {
    description: 'Returns the names that the device gave itself, and its address.',
    response: DeviceRequestResponse,
    rejects: REJECTIONS,
  })
  @Get()
  async get(
    @Req() request: Request,
    @CurrentUser() user: SessionUser,
    @Param('userCode') code: string,
  ): Promise<DeviceRequestResponse> {
    const typer = { user, address: clientAddress(request) };
    return DeviceRequestResponse.from(await this.approvals.find(typer, code));
  }

  @Operation('approveDevice', 'Approve a device', {
    description:
      'Creates no key yet: the next poll of the device does. Without `organization_id` the key is for the personal organization.',
    response: DeviceDecisionResponse,
    rejects: [...REJECTIONS, OrganizationNotFound, TooManyKeys],
  })
  @HttpCode(HttpStatus.OK)
  @Post('approve')
  async approve(
    @Req() request: Request,
    @CurrentUser() user: SessionUser,
    @Param('userCode') code: string,
    @OptionalJsonBody() { organization_id }: ApproveDeviceDto,
  ): Promise<DeviceDecisionResponse> {
    await this.approvals.approve({ user, address: clientAddress(request) }, code, organization_id);
    return { status: 'approved' };
  }

  @Operation('denyDevice', 'Deny a device', {
    description: 'The next poll of the device is rejected with `access_denied`.',
    response: DeviceDecisionResponse,
    rejects: REJECTIONS,
  })
  @HttpCode(HttpStatus.OK)
  @Post('deny')
  async deny(
    @Req() request: Request,
    @CurrentUser() user: SessionUser,
    @Param('userCode') code: string,
  ): Promise<DeviceDecisionResponse> {
    await this.approvals.deny({ user, address: clientAddress(request) }, code);
    return { status: 'denied' };
  }
}
