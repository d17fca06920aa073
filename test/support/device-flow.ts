import type supertest from 'supertest';
import type { TestApp } from './app.js';
import { sessionFor } from './sessions.js';

/** Response to the request that begins the flow. */
export interface DeviceCode {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

type Agent = ReturnType<typeof supertest.agent>;

/** Begins the flow as a device. */
export async function beginLogin(
  { anonymous }: { anonymous: Agent },
  device: object = {},
): Promise<DeviceCode> {
  return (await anonymous.post('/auth/device/code').send(device).expect(200)).body;
}

/** Polls once: `200 <key>` or `<status> <type>`. */
export async function poll({ anonymous }: { anonymous: Agent }, deviceCode: string): Promise<string> {
  const { status, body } = await anonymous.post('/auth/device/token').send({ device_code: deviceCode });
  return `${status} ${body.error?.type ?? body.api_key}`;
}

export const KEY = /^200 mk_[0-9A-Za-z]{42}$/;

/** Approves or denies by the JSON routes. */
export function decide(agent: Agent, userCode: string, decision: 'approve' | 'deny', body?: object) {
  return agent.post(`/me/device-requests/${userCode}/${decision}`).send(body);
}

/** Advances the time for all device sessions, and for nothing else. */
export async function letPass({ database }: Pick<TestApp, 'database'>, seconds: number): Promise<void> {
  await database.query(
    `UPDATE device_sessions SET created_at = created_at - make_interval(secs => $1),
       expires_at = expires_at - make_interval(secs => $1), last_polled_at = last_polled_at - make_interval(secs => $1)`,
    [seconds],
  );
}

/** CSRF token in the form of the page. */
export function csrfTokenIn(page: string): string {
  return /name="csrf_token" value="([\w-]+)"/.exec(page)![1]!;
}

/** Sends requests with the headers of a signed-in browser. */
export class TestBrowser {
  private constructor(
    private readonly agent: Agent,
    readonly cookie: string,
    private readonly url: string,
  ) {}

  static async of(
    { anonymous, url }: Pick<TestApp, 'anonymous' | 'url'>,
    user: string,
  ): Promise<TestBrowser> {
    return new TestBrowser(anonymous, `mintkeep_session=${await sessionFor(user)}`, url);
  }

  open(userCode?: string) {
    const request = this.agent.get('/auth/device').set('Cookie', this.cookie);
    return userCode === undefined ? request : request.query({ user_code: userCode });
  }

  /** The token of the form that the page shows for a code. */
  async csrfToken(userCode: string): Promise<string> {
    const { text } = await this.open(userCode).expect(200);
    return csrfTokenIn(text);
  }

  /** Submits a form like a browser. */
  submit(decision: 'approve' | 'deny', fields: Record<string, string>) {
    return this.agent
      .post(`/auth/device/${decision}`)
      .set('Cookie', this.cookie)
      .set('Origin', this.url)
      .type('form')
      .send(fields);
  }
}
