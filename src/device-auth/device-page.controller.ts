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
import { IdentityProviderUnavailable } from '../auth/auth.errors.js';
import { Public } from '../auth/public.decorator.js';
import { BodyTooLarge, readBytes } from '../common/body-bytes.js';
import { UnsupportedEncoding } from '../common/domain-error.js';
import { parseForm } from '../common/form-body.js';
import { Operation } from '../common/operation.js';
import { sendPage } from '../common/page.js';
import { ID } from '../common/path-id.js';
import { OrganizationNotFound } from '../organizations/organizations.errors.js';
import { OrganizationsService } from '../organizations/organizations.service.js';
import { BY_FORM } from './device-addresses.js';
import { DeviceApprovalService } from './device-approval.service.js';
import {
  CsrfFailed,
  InvalidRequest,
  InvalidUserCode,
  RateLimited,
  SentToSignIn,
  SignInNeeded,
} from './device-auth.errors.js';
import { DevicePageFilter } from './device-page.filter.js';
import { DevicePages } from './device-pages.js';
import { PageSessions } from './page-session.js';
import type { PageSession } from './page-session.js';
import { SameOriginGuard } from './same-origin.guard.js';
import { parseUserCode } from './user-codes.js';

const PAGE_QUERY = {
  user_code: { type: 'string', description: 'What is to be decided about; asked for when left out.' },
  [BY_FORM]: {
    type: 'string',
    description: 'Of the form in which a code is typed: without a session, a page leads to the sign-in.',
  },
};
const REFUSALS = [SignInNeeded, InvalidUserCode, new RateLimited(60), IdentityProviderUnavailable];
const DENIAL_FORM = {
  user_code: { type: 'string', example: 'WDJB-MJHT' },
  csrf_token: { type: 'string', example: '{csrf_token}', description: 'From the page.' },
};
const APPROVAL_FORM = {
  ...DENIAL_FORM,
  organization_id: {
    type: 'string',
    description: 'Whose pool the key will use; the personal one when left out.',
  },
};
const DECISION_REFUSALS = [
  ...REFUSALS,
  ...[CsrfFailed, new InvalidRequest('the body is not a form'), BodyTooLarge, UnsupportedEncoding],
];

/** A decision, as the form of the page has it. */
interface DecisionForm {
  readonly session: PageSession;
  readonly userCode: string;
  /** Whose pool the key will use. */
  readonly organization: string | null;
}

/** Where a person decides about a device, with nothing but a browser. Looking changes nothing. */
@ApiTags('Device flow')
@Public() // the session comes in a cookie, and who has none is led to the sign-in
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
    description: 'Where a link of another site leads here, the code is filled in, to be sent by the user.',
    ...{ answers: 'page', refuses: [new SentToSignIn('/sign-in'), ...REFUSALS], query: PAGE_QUERY },
  })
  @Get()
  async show(
    @Req() request: Request,
    @Res() response: Response,
    @Query('user_code') typed: unknown = '',
  ): Promise<void> {
    const userCode = typeof typed === 'string' ? typed : 'not a code'; // named twice, say
    const session = await this.sessions.of(request, userCode);
    if (userCode.trim() === '' || isFromAnotherSite(request)) {
      sendPage(response, HttpStatus.OK, this.pages.enterCode(session, parseUserCode(userCode)));
      return;
    }
    const device = await this.approvals.find(session, userCode);
    const organizations = await this.organizations.list(session.user);
    sendPage(response, HttpStatus.OK, this.pages.confirm({ device, session, organizations }));
  }

  @Operation('approveOnPage', 'Approve on the page', {
    answers: 'page',
    refuses: [...DECISION_REFUSALS, OrganizationNotFound],
    form: APPROVAL_FORM,
    formRequires: ['user_code', 'csrf_token'],
  })
  @HttpCode(HttpStatus.OK)
  @UseGuards(SameOriginGuard)
  @Post('approve')
  async approve(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { session, userCode, organization } = await this.readForm(request);
    const organizationId = toOrganizationId(organization);
    const organizations = await this.organizations.list(session.user); // before: a failure says that nothing was approved
    const device = await this.approvals.approve(session, userCode, organizationId);
    const pool = organizations.find(({ id, kind }) =>
      organizationId === undefined ? kind === 'personal' : id === organizationId,
    );
    sendPage(response, HttpStatus.OK, this.pages.approved({ device, session, pool }));
  }

  @Operation('denyOnPage', 'Deny on the page', {
    answers: 'page',
    refuses: DECISION_REFUSALS,
    form: DENIAL_FORM,
    formRequires: ['user_code', 'csrf_token'],
  })
  @HttpCode(HttpStatus.OK)
  @UseGuards(SameOriginGuard)
  @Post('deny')
  async deny(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { session, userCode } = await this.readForm(request);
    const device = await this.approvals.deny(session, userCode);
    sendPage(response, HttpStatus.OK, this.pages.denied({ device, session }));
  }

  /** @throws InvalidRequest @throws SignInNeeded @throws CsrfFailed */
  private async readForm(request: Request): Promise<DecisionForm> {
    const form = parseForm(request, await readBytes(request));
    if (!form) throw new InvalidRequest('the body is not a form');
    const userCode = form.get('user_code') ?? '';
    const session = await this.sessions.of(request, userCode);
    session.assertForm(form.get('csrf_token'));
    return { session, userCode, organization: form.get('organization_id') };
  }
}

/** Links of others lead to codes that the user has not typed, and that are not to be held against them. */
function isFromAnotherSite({ headers }: Request): boolean {
  return headers['sec-fetch-site'] === 'cross-site';
}

/** Undefined: the personal one. @throws OrganizationNotFound for what can be nobody's id */
function toOrganizationId(field: string | null): number | undefined {
  if (field === null || field === '') return undefined;
  if (!ID.test(field)) throw new OrganizationNotFound();
  return Number(field);
}
