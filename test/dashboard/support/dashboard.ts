import type { Browser, BrowserContext, Page } from 'playwright-core';
import supertest from 'supertest';
import { startApp } from '../../support/app.js';
import type { Agent, TestApp } from '../../support/app.js';
import { ACTION_TIMEOUT_MS, launchBrowser } from '../../support/browser.js';
import { freePort } from '../../support/free-port.js';
import { recordNotices } from './notices.js';

const WIDTH = 1_280;
const HEIGHT = 800;

/** A person with a browser window of their own. */
export interface Person {
  readonly email: string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Requests of this person to the service. */
  readonly agent: Agent;
  /** Errors of the page's scripts and violations of its Content-Security-Policy. */
  readonly problems: string[];
}

/** The dashboard in front of a service with the development sign-in. */
export interface Dashboard {
  readonly url: string;
  readonly app: TestApp;
  readonly browser: Browser;
  /** Opens a window without a session. */
  open(): Promise<Pick<Person, 'context' | 'page' | 'problems'>>;
  /** Opens a window in which a person is signed in. */
  signedIn(name: string): Promise<Person>;
  close(): Promise<void>;
}

/** Only the development sign-in, which is the default, opens windows in which a person is signed in. */
export async function startDashboard(variables: NodeJS.ProcessEnv = {}): Promise<Dashboard> {
  // The approval page of the device flow leads to the sign-in below PUBLIC_URL, so the port is known before the start.
  const port = String(await freePort());
  const address = { HOST: '127.0.0.1', PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` };
  const app = await startApp({ SESSION_JWT_SECRET: '', ...address, ...variables });
  const browser = await launchBrowser();
  const open = async () => {
    const context = await browser.newContext({ viewport: { width: WIDTH, height: HEIGHT } });
    context.setDefaultTimeout(ACTION_TIMEOUT_MS); // also of further tabs
    await recordNotices(context);
    const page = await context.newPage();
    return { context, page, problems: watchProblems(page) };
  };
  return {
    ...{ url: app.url, app, browser, open },
    signedIn: async (name) => {
      const window = await open();
      const email = `${name}@example.com`;
      const token = await sessionOf(app, email);
      const store = `sessionStorage.getItem('mintkeep.session') ?? sessionStorage.setItem('mintkeep.session', '${token}')`;
      await window.context.addInitScript({ content: store });
      return { ...window, email, agent: agentWith(app, token) };
    },
    close: async () => {
      await browser.close();
      await app.close();
    },
  };
}

async function sessionOf(app: TestApp, email: string): Promise<string> {
  const { body } = await app.anonymous.post('/dev/sign-in').send({ email }).expect(200);
  return body.token as string;
}

function agentWith(app: TestApp, token: string): Agent {
  return supertest.agent(app.url).set('Authorization', `Bearer ${token}`);
}

function watchProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (/Content.Security.Policy/.test(message.text())) problems.push(message.text());
  });
  return problems;
}
