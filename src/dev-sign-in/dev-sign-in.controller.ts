import { Controller, Get, HttpCode, HttpStatus, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { readBytes } from '../common/body-bytes.js';
import { InvalidField } from '../common/domain-error.js';
import { parseForm } from '../common/form-body.js';
import { parseJsonObject } from '../common/json-body.js';
import { Operation } from '../common/operation.js';
import { sendPage } from '../common/page.js';
import { EMAIL_MAX_LENGTH, isAddress, trimUnicode } from '../common/text.js';
import { Settings } from '../config/settings.js';
import { NotFromHere } from './dev-sign-in.errors.js';
import { signedInPage, signInPage } from './dev-sign-in.page.js';
import { DevSignInService, SESSION_SECONDS } from './dev-sign-in.service.js';
import { SignInDto, SessionResponse } from './dto/sign-in.js';
import { OwnOriginGuard } from './own-origin.guard.js';

const RETURN_TO = {
  return_to: { type: 'string', description: 'Where to go then: a page of ours or of the dashboard.' },
};
const SIGN_IN =
  'There is no such route where an identity provider is configured. JSON is answered with a session, a form with a ' +
  'page, and with a cookie that has the session.';

/** The page where one becomes somebody, and the same for scripts. */
@ApiTags('Sign-in')
@Public() // this is where sessions come from
@UseGuards(OwnOriginGuard)
@Controller('dev/sign-in')
export class DevSignInController {
  constructor(
    private readonly signIns: DevSignInService,
    private readonly settings: Settings,
  ) {}

  @Operation('showSignIn', 'The sign-in page of development', {
    answers: 'page',
    refuses: [NotFromHere],
    query: RETURN_TO,
  })
  @Get()
  show(@Query('return_to') returnTo: unknown, @Res() response: Response): void {
    sendPage(response, HttpStatus.OK, this.form(typeof returnTo === 'string' ? returnTo : null));
  }

  /** A form of the page, or JSON of a script. */
  @Operation('signIn', 'Become somebody, in development', {
    description: SIGN_IN,
    answers: SessionResponse,
    orPage: true,
    refuses: [NotFromHere],
    body: SignInDto,
    sets: ['Cache-Control'],
    maySet: ['Set-Cookie'],
    sendsOn: ['Cache-Control', 'Set-Cookie'],
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
    const token = await this.signIns.signIn(email);
    const { cookieName } = this.settings.session;
    response.cookie(cookieName, token, {
      httpOnly: true,
      sameSite: 'lax',
      path: '/',
      maxAge: SESSION_SECONDS * 1_000,
    });
    const target = this.signIns.returnTo(returnTo);
    if (target !== undefined)
      response.set('Cache-Control', 'no-store').redirect(HttpStatus.SEE_OTHER, target);
    else
      sendPage(response, HttpStatus.OK, signedInPage({ email, token, publicUrl: this.settings.publicUrl }));
  }

  /** @throws InvalidField invalid_email */
  private async signInByJson(body: Record<string, unknown>, response: Response): Promise<void> {
    const email = toAddress(body.email);
    if (email === undefined) throw new InvalidField('invalid_email', 'email must be an e-mail address');
    response.set('Cache-Control', 'no-store').json({ token: await this.signIns.signIn(email) });
  }

  /** @param refused what was typed, when that was no address */
  private form(returnTo: string | null, refused?: string): ReturnType<typeof signInPage> {
    const { dashboardUrl, publicUrl } = this.settings;
    const page = signInPage({ publicUrl, returnTo, email: refused, refused: refused !== undefined });
    return { ...page, formTargets: [new URL(dashboardUrl).origin, new URL(publicUrl).origin] };
  }
}

/** The length is looked at first, so that nobody makes us search a megabyte for white space. */
function toAddress(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > EMAIL_MAX_LENGTH) return undefined;
  const address = trimUnicode(text);
  return isAddress(address) ? address : undefined;
}
