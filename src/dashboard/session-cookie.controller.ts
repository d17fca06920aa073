import { Controller, Delete, Headers, HttpCode, HttpStatus, Post, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { CookieOptions, Response } from 'express';
import { IdentityProviderUnavailable, NoValidSession } from '../auth/auth.errors.js';
import { Public } from '../auth/public.decorator.js';
import { SessionsService } from '../auth/sessions.service.js';
import { bearerToken } from '../common/api/bearer-token.js';
import { Operation } from '../common/api/operation.js';
import { pathBelow } from '../common/pages/page.js';
import { Settings } from '../config/settings.js';
import { CsrfFailed } from '../device-auth/flow/device-auth.errors.js';
import { SameOriginGuard } from '../device-auth/page/same-origin.guard.js';

/** The dashboard's session in a cookie, for the approval page of the device flow, which has no scripts. */
@ApiTags('Dashboard')
@Public() // the origin is checked before the session
@UseGuards(SameOriginGuard)
@Controller('auth/session')
export class SessionCookieController {
  private readonly name: string;
  private readonly options: CookieOptions;

  constructor(
    { session, publicUrl }: Settings,
    private readonly sessions: SessionsService,
  ) {
    this.name = session.cookieName;
    this.options = {
      path: pathBelow(publicUrl, '/auth/device'),
      httpOnly: true,
      sameSite: 'lax',
      secure: publicUrl.startsWith('https:'),
    };
  }

  @Operation('openCookieSession', 'Open a session for the approval page', {
    description:
      'Sets a cookie with the session of the request. Accepts requests of the own origin only: one of `Origin` and ' +
      '`Sec-Fetch-Site` is required. The cookie expires with the session.',
    responseHeaders: ['Set-Cookie'],
    rejects: [CsrfFailed, NoValidSession, IdentityProviderUnavailable],
  })
  @HttpCode(HttpStatus.NO_CONTENT)
  @Post()
  async open(
    @Headers('authorization') authorization: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const token = bearerToken(authorization);
    if (token === undefined) throw new NoValidSession();
    const { expiresAt } = await this.sessions.resolveSession(token);
    response.cookie(this.name, token, { ...this.options, expires: new Date(expiresAt * 1_000) });
  }

  @Operation('closeCookieSession', 'Close the session for the approval page', {
    description: 'Deletes the cookie. The session itself stays valid.',
    responseHeaders: ['Set-Cookie'],
    rejects: [CsrfFailed],
  })
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete()
  close(@Res({ passthrough: true }) response: Response): void {
    response.clearCookie(this.name, this.options);
  }
}
