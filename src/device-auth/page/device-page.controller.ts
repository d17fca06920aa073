import {
  Controller,
  Get,
  HttpCode,
  HttpStatus,
  Post,
  Query,
  Req,
  Res,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { IdentityProviderUnavailable } from '../../auth/auth.errors.js';
import { Public } from '../../auth/public.decorator.js';
import { Operation } from '../../common/api/operation.js';
import { sendPage } from '../../common/pages/page.js';
import { ID } from '../../common/api/path-id.js';
import { TooManyKeys } from '../../keys/keys.errors.js';
import { OrganizationNotFound } from '../../organizations/model/organizations.errors.js';
import { OrganizationsService } from '../../organizations/organizations.service.js';
import { BY_FORM_PARAMETER } from '../flow/device-page-urls.js';
import { DeviceApprovalService } from '../flow/device-approval.service.js';
import {
  CsrfFailed,
  InvalidUserCode,
  RateLimited,
  RedirectToSignIn,
  SignInRequired,
} from '../flow/device-auth.errors.js';
import { DEVICE_FORM_REJECTIONS, readDeviceForm } from '../flow/device-form.js';
import { DevicePageFilter } from './device-error-pages.js';
import { DevicePages } from './device-pages.js';
import { PageSessions } from './page-sessions.js';
import type { PageSession } from './page-sessions.js';
import { SameOriginGuard } from './same-origin.guard.js';
import { parseUserCode } from '../flow/user-codes.js';

const PAGE_QUERY = {
  user_code: { type: 'string', description: 'Code of the request. The page asks for it if it is absent.' },
  [BY_FORM_PARAMETER]: {
    type: 'string',
    description:
      'Sent by the form for the code. Without a session the response is then a page with a link to the sign-in.',
  },
};
const MARKER = 'mintkeep_sign_in=1; Path=/auth/device; Max-Age=600; HttpOnly; SameSite=Lax';
const REJECTIONS = [
  SignInRequired,
  new SignInRequired(undefined, MARKER),
  InvalidUserCode,
  new RateLimited(60),
  IdentityProviderUnavailable,
];
const DENIAL_FORM = {
  user_code: { type: 'string', example: 'WDJB-MJHT' },
  csrf_token: { type: 'string', example: '{csrf_token}', description: 'Token of the form on the page.' },
};
const APPROVAL_FORM = {
  ...DENIAL_FORM,
  organization_id: {
    type: 'string',
    description: 'Owner of the upstreams that the key will use. Default: the personal organization.',
  },
};
const DECISION_REJECTIONS = [...REJECTIONS, CsrfFailed, ...DEVICE_FORM_REJECTIONS];

/** Contents of the page's form, with the session that sent it. */
interface DecisionForm {
  readonly session: PageSession;
  readonly userCode: string;
  /** Id of the organization whose pool the key will use; null for the personal one. */
  readonly organization: string | null;
}

/** The page on which a person approves or denies a device. A GET changes nothing. */
@ApiTags('Device flow')
@Public() // the session comes in a cookie; a browser without one is sent to the sign-in
@UseFilters(DevicePageFilter)
@Controller('auth/device')
export class DevicePageController {
  constructor(
    private readonly sessions: PageSessions,
    private readonly approvals: DeviceApprovalService,
    private readonly organizations: OrganizationsService,
    private readonly pages: DevicePages,
  ) {}

  @Operation('showDevicePage', 'The approval page', {
    description:
      'If a link on another site leads here, the page shows the code in a form that the user has to send.',
    response: 'page',
    rejects: [new RedirectToSignIn('/sign-in'), new RedirectToSignIn('/sign-in', MARKER), ...REJECTIONS],
    query: PAGE_QUERY,
  })
  @Get()
  async show(
    @Req() request: Request,
    @Res() response: Response,
    @Query('user_code') typed: unknown = '',
  ): Promise<void> {
    const userCode = typeof typed === 'string' ? typed : 'not a code'; // a repeated parameter is an array
    const session = await this.sessions.authenticate(request, userCode);
    if (userCode.trim() === '' || isFromAnotherSite(request)) {
      sendPage(response, HttpStatus.OK, this.pages.enterCode(session, parseUserCode(userCode)));
      return;
    }
    const device = await this.approvals.find(session, userCode);
    const organizations = await this.organizations.list(session.user);
    sendPage(response, HttpStatus.OK, this.pages.confirm({ device, session, organizations }));
  }

  @Operation('approveOnPage', 'Approve on the page', {
    description: 'Sent by the form of the approval page, with its CSRF token.',
    response: 'page',
    rejects: [...DECISION_REJECTIONS, OrganizationNotFound, TooManyKeys],
    form: APPROVAL_FORM,
    requiredFormFields: ['user_code', 'csrf_token'],
  })
  @HttpCode(HttpStatus.OK)
  @UseGuards(SameOriginGuard)
  @Post('approve')
  async approve(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { session, userCode, organization } = await this.readForm(request);
    const organizationId = toOrganizationId(organization);
    const organizations = await this.organizations.list(session.user); // before the approval: a failure page says that nothing was approved
    const device = await this.approvals.approve(session, userCode, organizationId);
    const pool = organizations.find(({ id, kind }) =>
      organizationId === undefined ? kind === 'personal' : id === organizationId,
    );
    sendPage(response, HttpStatus.OK, this.pages.approved({ device, session, pool }));
  }

  @Operation('denyOnPage', 'Deny on the page', {
    description: 'Sent by the form of the approval page, with its CSRF token.',
    response: 'page',
    rejects: DECISION_REJECTIONS,
    form: DENIAL_FORM,
    requiredFormFields: ['user_code', 'csrf_token'],
  })
  @HttpCode(HttpStatus.OK)
  @UseGuards(SameOriginGuard)
  @Post('deny')
  async deny(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { session, userCode } = await this.readForm(request);
    const device = await this.approvals.deny(session, userCode);
    sendPage(response, HttpStatus.OK, this.pages.denied({ device, session }));
  }

  /** @throws InvalidRequest @throws SignInRequired @throws CsrfFailed */
  private async readForm(request: Request): Promise<DecisionForm> {
    const form = await readDeviceForm(request);
    const userCode = form.get('user_code') ?? '';
    const session = await this.sessions.authenticate(request, userCode);
    session.assertForm(form.get('csrf_token'));
    return { session, userCode, organization: form.get('organization_id') };
  }
}

/** Whether a link on another site led here. The user did not type its code, so a wrong code must not count. */
function isFromAnotherSite({ headers }: Request): boolean {
  return headers['sec-fetch-site'] === 'cross-site';
}

/** Undefined for the personal organization. @throws OrganizationNotFound if the field is no valid id */
function toOrganizationId(field: string | null): number | undefined {
  if (field === null || field === '') return undefined;
  if (!ID.test(field)) throw new OrganizationNotFound();
  return Number(field);
}
