import { Controller, Header, HttpCode, HttpStatus, Post, Req, UseFilters } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../auth/public.decorator.js';
import { JsonBody, OptionalJsonBody } from '../common/json-body.js';
import { Operation } from '../common/operation.js';
import { clientAddress } from './client-address.js';
import {
  AccessDenied,
  AuthorizationPending,
  ExpiredToken,
  RateLimited,
  SlowDown,
  UnknownDeviceCode,
} from './device-auth.errors.js';
import { DeviceErrorFilter } from './device-error.filter.js';
import { DevicePollingService } from './device-polling.service.js';
import { DeviceSessionsService } from './device-sessions.service.js';
import { BeginDeviceSessionDto, PollDto } from './dto/device-code.requests.js';
import { DeviceCodeResponse, DeviceKeyResponse } from './dto/device-code.response.js';

@ApiTags('Device flow')
@Public() // the device has no session: its code is the credential
@UseFilters(DeviceErrorFilter)
@Controller('auth/device')
export class DeviceCodeController {
  constructor(
    private readonly sessions: DeviceSessionsService,
    private readonly polling: DevicePollingService,
  ) {}

  @Operation('beginDeviceFlow', 'Begin the device flow', {
    description: 'The body may be left out.',
    answers: DeviceCodeResponse,
    refuses: [new RateLimited(60)],
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('code')
  begin(
    @Req() request: Request,
    @OptionalJsonBody() body: BeginDeviceSessionDto,
  ): Promise<DeviceCodeResponse> {
    return this.sessions.begin(body, clientAddress(request));
  }

  @Operation('pollDeviceFlow', 'Poll for the key', {
    description: 'The key is answered once, to the first poll after the approval.',
    answers: DeviceKeyResponse,
    refuses: [AuthorizationPending, SlowDown, AccessDenied, ExpiredToken, UnknownDeviceCode],
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('token')
  poll(@Req() request: Request, @JsonBody() body: PollDto): Promise<DeviceKeyResponse> {
    return this.polling.poll(body.device_code, { isGone: () => request.socket.destroyed });
  }
}
