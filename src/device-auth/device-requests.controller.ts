import { Controller, Get, HttpCode, HttpStatus, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { CurrentUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { OptionalJsonBody } from '../common/json-body.js';
import { Operation } from '../common/operation.js';
import { OrganizationNotFound } from '../organizations/organizations.errors.js';
import { clientAddress } from './client-address.js';
import { DeviceApprovalService } from './device-approval.service.js';
import { InvalidUserCode, RateLimited } from './device-auth.errors.js';
import { ApproveDeviceDto } from './dto/device-request.requests.js';
import { DeviceDecisionResponse, DeviceRequestResponse } from './dto/device-request.response.js';

const REFUSALS = [InvalidUserCode, new RateLimited(60)];

/** The approval page's twin, for dashboards that have a page of their own. */
@ApiTags('Device flow')
@Controller('me/device-requests/:userCode')
export class DeviceRequestsController {
  constructor(private readonly approvals: DeviceApprovalService) {}

  @Operation('getDeviceRequest', 'Look at what a device asks for', {
    answers: DeviceRequestResponse,
    refuses: REFUSALS,
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
    answers: DeviceDecisionResponse,
    refuses: [...REFUSALS, OrganizationNotFound],
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

  @Operation('denyDevice', 'Deny a device', { answers: DeviceDecisionResponse, refuses: REFUSALS })
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
