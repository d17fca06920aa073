import { Controller, Get, HttpStatus, Post, Query, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { readBytes } from '../common/body-bytes.js';
import { parseForm } from '../common/form-body.js';
import { sendPage } from '../common/page.js';
import { OrganizationNotFound } from '../organizations/organizations.errors.js';
import { OrganizationsService } from '../organizations/organizations.service.js';
import { DeviceApprovalService } from './device-approval.service.js';
import { InvalidRequest } from './device-auth.errors.js';
import { DevicePageFilter } from './device-page.filter.js';
import { DevicePages } from './device-pages.js';
import { PageSessions } from './page-session.js';
import type { PageSession } from './page-session.js';
import { SameOriginGuard } from './same-origin.guard.js';

/** An id, as `path-id.ts` has it. */
const ID = /^(?:0|[1-9][0-9]{0,14})$/;

/** A decision, as the form of the page has it. */
interface DecisionForm {
  readonly session: PageSession;
  readonly userCode: string;
  /** Undefined: the personal organization. */
  readonly organizationId?: number;
}

/** Where a person decides about a device, with nothing but a browser. Looking changes nothing. */
@Public() // the session comes in a cookie, and who has none is sent to the sign-in
@UseFilters(DevicePageFilter)
@Controller('auth/device')
export class DevicePageController {
  constructor(
    private readonly sessions: PageSessions,
    private readonly approvals: DeviceApprovalService,
    private readonly organizations: OrganizationsService,
    private readonly pages: DevicePages,
  ) {}

  @Get()
  async show(
    @Req() request: Request,
    @Res() response: Response,
    @Query('user_code') typed: unknown = '',
  ): Promise<void> {
    const userCode = typeof typed === 'string' ? typed : 'not a code'; // named twice, say
    const session = await this.sessions.of(request, userCode);
    if (userCode.trim() === '') {
      sendPage(response, HttpStatus.OK, this.pages.enterCode(session));
      return;
    }
    const device = await this.approvals.find(session, userCode);
    const organizations = await this.organizations.list(session.user);
    sendPage(response, HttpStatus.OK, this.pages.confirm({ device, session, organizations }));
  }

  @UseGuards(SameOriginGuard)
  @Post('approve')
  async approve(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { session, userCode, organizationId } = await this.readForm(request);
    const device = await this.approvals.approve(session, userCode, organizationId);
    const organizations = await this.organizations.list(session.user);
    const pool = organizations.find(({ id, kind }) =>
      organizationId === undefined ? kind === 'personal' : id === organizationId,
    );
    sendPage(response, HttpStatus.OK, this.pages.approved({ device, session, pool }));
  }

  @UseGuards(SameOriginGuard)
  @Post('deny')
  async deny(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { session, userCode } = await this.readForm(request);
    const device = await this.approvals.deny(session, userCode);
    sendPage(response, HttpStatus.OK, this.pages.denied({ device, session }));
  }

  /** @throws InvalidRequest @throws SignInNeeded @throws CsrfFailed @throws OrganizationNotFound */
  private async readForm(request: Request): Promise<DecisionForm> {
    const form = parseForm(request, await readBytes(request));
    if (!form) throw new InvalidRequest('the body is not a form');
    const userCode = form.get('user_code') ?? '';
    const session = await this.sessions.of(request, userCode);
    session.assertForm(form.get('csrf_token'));
    return { session, userCode, organizationId: toOrganizationId(form.get('organization_id')) };
  }
}

/** @throws OrganizationNotFound for what can be nobody's id */
function toOrganizationId(field: string | null): number | undefined {
  if (field === null || field === '') return undefined;
  if (!ID.test(field)) throw new OrganizationNotFound();
  return Number(field);
}
