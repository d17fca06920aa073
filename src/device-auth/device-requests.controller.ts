import { Controller, Get, HttpCode, HttpStatus, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { CurrentUser } from '../auth/session-user.js';
import type { SessionUser } from '../auth/session-user.js';
import { OptionalJsonBody } from '../common/json-body.js';
import { clientAddress } from './client-address.js';
import { DeviceApprovalService } from './device-approval.service.js';
import { ApproveDeviceDto } from './dto/device-request.requests.js';
import { DeviceDecisionResponse, DeviceRequestResponse } from './dto/device-request.response.js';

/** The approval page's twin, for dashboards that have a page of their own. */
@Controller('me/device-requests/:userCode')
export class DeviceRequestsController {
  constructor(private readonly approvals: DeviceApprovalService) {}

  @Get()
  async get(
    @Req() request: Request,
    @CurrentUser() user: SessionUser,
    @Param('userCode') code: string,
  ): Promise<DeviceRequestResponse> {
    const typer = { user, address: clientAddress(request) };
    return DeviceRequestResponse.from(await this.approvals.find(typer, code));
  }

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
