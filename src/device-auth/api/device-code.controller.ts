import {
  Catch,
  Controller,
  Header,
  HttpCode,
  HttpStatus,
  Post,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../../auth/public.decorator.js';
import { JsonBody, OptionalJsonBody } from '../../common/body/json-body.js';
import { BadRequest, InvalidField, UnsupportedEncoding } from '../../common/api/domain-error.js';
import { ErrorFilter } from '../../common/api/error.filter.js';
import type { ErrorResponse, Rejection } from '../../common/api/error.filter.js';
import { Operation } from '../../common/api/operation.js';
import { clientAddress } from '../flow/client-address.js';
import {
  AccessDenied,
  AuthorizationPending,
  ExpiredToken,
  InvalidRequest,
  RateLimited,
  SlowDown,
  UnknownDeviceCode,
} from '../flow/device-auth.errors.js';
import { DeviceCodeLimitGuard } from './device-code-limit.guard.js';
import { DevicePollingService } from '../flow/device-polling.service.js';
import { DeviceSessionsService } from '../flow/device-sessions.service.js';
import { BeginDeviceSessionDto, PollDto } from '../flow/dto/device-code.requests.js';
import { DeviceCodeResponse, DeviceKeyResponse } from '../flow/dto/device-code.response.js';

const BODY_ERRORS = [BadRequest, InvalidField, UnsupportedEncoding];

/** Reports every defect of a body as `invalid_request`, the one type that devices expect for it. */
@Catch()
class DeviceErrorFilter extends ErrorFilter {
  override toResponse(rejection: Rejection): ErrorResponse {
    const isAboutBody = BODY_ERRORS.some((type) => rejection instanceof type);
    return super.toResponse(isAboutBody ? new InvalidRequest(rejection.message) : rejection);
  }
}

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
    description: 'The body is optional.',
    response: DeviceCodeResponse,
    rejects: [new RateLimited(60)],
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @UseGuards(DeviceCodeLimitGuard)
  @Post('code')
  begin(
    @Req() request: Request,
    @OptionalJsonBody() body: BeginDeviceSessionDto,
  ): Promise<DeviceCodeResponse> {
    return this.sessions.begin(body, clientAddress(request));
  }

  @Operation('pollDeviceFlow', 'Poll for the key', {
    description: 'The first poll after the approval returns the key. No later poll does.',
    response: DeviceKeyResponse,
    rejects: [AuthorizationPending, SlowDown, AccessDenied, ExpiredToken, UnknownDeviceCode],
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('token')
  poll(@Req() request: Request, @JsonBody() body: PollDto): Promise<DeviceKeyResponse> {
    return this.polling.poll(body.device_code, { isDisconnected: () => request.socket.destroyed });
  }
}
