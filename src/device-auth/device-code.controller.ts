import { Controller, Header, HttpCode, HttpStatus, Post, Req, UseFilters } from '@nestjs/common';
import type { Request } from 'express';
import { Public } from '../auth/public.decorator.js';
import { JsonBody, OptionalJsonBody } from '../common/json-body.js';
import { clientAddress } from './client-address.js';
import { DeviceErrorFilter } from './device-error.filter.js';
import { DevicePollingService } from './device-polling.service.js';
import { DeviceSessionsService } from './device-sessions.service.js';
import { BeginDeviceSessionDto, PollDto } from './dto/device-code.requests.js';
import { DeviceCodeResponse, DeviceKeyResponse } from './dto/device-code.response.js';

@Public() // the device has no session: its code is the credential
@UseFilters(DeviceErrorFilter)
@Controller('auth/device')
export class DeviceCodeController {
  constructor(
    private readonly sessions: DeviceSessionsService,
    private readonly polling: DevicePollingService,
  ) {}

  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('code')
  begin(
    @Req() request: Request,
    @OptionalJsonBody() body: BeginDeviceSessionDto,
  ): Promise<DeviceCodeResponse> {
    return this.sessions.begin(body, clientAddress(request));
  }

  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('token')
  poll(@JsonBody() body: PollDto): Promise<DeviceKeyResponse> {
    return this.polling.poll(body.device_code);
  }
}
