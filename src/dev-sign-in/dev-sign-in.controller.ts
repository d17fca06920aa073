import { Controller, Get, HttpCode, HttpStatus, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { readBytes } from '../common/body/body-bytes.js';
import { InvalidField } from '../common/api/domain-error.js';
import { parseForm } from '../common/body/form-body.js';
import { parseJsonObject } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { sendPage } from '../common/pages/page.js';
import { EMAIL_MAX_LENGTH, isAddress, trimUnicode } from '../common/text/text.js';
import { Settings } from '../config/settings.js';
import { NotLocalRequest } from './dev-sign-in.errors.js';
import { signedInPage, signInPage } from './dev-sign-in.page.js';
import { DevSignInService, SESSION_SECONDS } from './dev-sign-in.service.js';
import { SignInDto, SessionResponse } from './dto/sign-in.js';
import { OwnOriginGuard } from './own-origin.guard.js';

const RETURN_TO = {
  return_to: {
    type: 'string',
    description: 'URL to open after the sign-in: a page of this service or of the dashboard.',
  },
};
const SIGN_IN =
  'The route exists only if no identity provider is configured. The response to JSON contains a session. The response ' +
  'to a form is a page, and sets a cookie with the session.';

/** Sign-in page of the development sign-in, and its JSON equivalent for scripts. */
@ApiTags('Sign-in')
@Public() // sessions are created here
@UseGuards(OwnOriginGuard)
@Controller('dev/sign-in')
export class DevSignInController {
  constructor(
    private readonly signIns: DevSignInService,
    private readonly settings: Settings,
  ) {}

  @Operation('showSignIn', 'The development sign-in page', {
    description: 'A form for any e-mail address. Exists in development only.',
    response: 'page',
    rejects: [NotLocalRequest],
    query: RETURN_TO,
  })
  @Get()
  show(@Query('return_to') returnTo: unknown, @Res() response: Response): void {
    sendPage(response, HttpStatus.OK, this.form(typeof returnTo === 'string' ? returnTo : null));
  }

  /** Accepts the page's form, or JSON from a script. */
  @Operation('signIn', 'Sign in, in development', {
    description: SIGN_IN,
    response: SessionResponse,
    hasPage: true,
    rejects: [NotLocalRequest],
    body: SignInDto,
    responseHeaders: ['Cache-Control'],
    optionalResponseHeaders: ['Set-Cookie'],
    redirectHeaders: ['Cache-Control', 'Set-Cookie'],
  })
  @HttpCode(HttpStatus.OK)
  @Post()
  async signIn(@Req() request: Request, @Res() response: Response): Promise<void> {
    const body = await readBytes(request);
    const form = parseForm(request, body);
    if (form) await this.signInByForm(form, response);
    else await this.signInByJson(parseJsonObject(body), response);
  }

  private async signInByForm(fields: URLSearchParams, response: Response): Promise<void> {
    const email = toAddress(fields.get('email'));
    const returnTo = fields.get('return_to');
    if (email === undefined) {
      const page = this.form(returnTo, fields.get('email') ?? '');
      sendPage(response, HttpStatus.BAD_REQUEST, page);
      return;
    }
    const token = await this.signIns.createSession(email);
    const { cookieName } = this.settings.session;
    response.cookie(cookieName, token, {
      httpOnly: true,
      sameSite: 'lax',
      path: '/',
      maxAge: SESSION_SECONDS * 1_000,
    });
    const target = this.signIns.resolveReturnTo(returnTo);
    if (target !== undefined)
      response.set('Cache-Control', 'no-store').redirect(HttpStatus.SEE_OTHER, target);
    else
      sendPage(response, HttpStatus.OK, signedInPage({ email, token, publicUrl: this.settings.publicUrl }));
  }

  /** @throws InvalidField invalid_email */
  private async signInByJson(body: Record<string, unknown>, response: Response): Promise<void> {
    const email = toAddress(body.email);
    if (email === undefined) throw new InvalidField('invalid_email', 'email must be an e-mail address');
    response.set('Cache-Control', 'no-store').json({ token: await this.signIns.createSession(email) });
  }

  /** @param rejected text that was typed, if it is no e-mail address */
  private form(returnTo: string | null, rejected?: string): ReturnType<typeof signInPage> {
    const { dashboardUrl, publicUrl } = this.settings;
    const page = signInPage({ publicUrl, returnTo, email: rejected, isRejected: rejected !== undefined });
    return { ...page, formTargets: [new URL(dashboardUrl).origin, new URL(publicUrl).origin] };
  }
}

/** Checks the length first, so that a large body is not searched for white space. */
function toAddress(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > EMAIL_MAX_LENGTH) return undefined;
  const address = trimUnicode(text);
  return isAddress(address) ? address : undefined;
}
