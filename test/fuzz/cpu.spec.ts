import { documentPath } from '../../src/openapi/route.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { ROUTES } from '../support/routes.js';
import { anonymousShapes, inputOf, oversizeBodies, sessionBodies, sessionQueries } from './costly-inputs.js';
import type { Shape, Target } from './costly-inputs.js';
import { MeasuredService } from './measured-service.js';
import type { FuzzDocument } from './requests.js';

const ANONYMOUS_LIMIT_MS = 20;
const SESSION_LIMIT_MS = 200;
/** An input this far beyond its bound is not measured again, nor is anything else sent to its route. */
const HOPELESS_FACTOR = 10;
/** `npm run fuzz` sends every input to every route; `npm test` sends bodies to the routes without a session. */
const IS_FULL = process.env.FUZZ_CASES !== undefined;
const TIMEOUT_MS = 600_000;

/** Routes that the table of all routes leaves out, or that exist in development only. */
const FURTHER_ROUTES = [
  ...['GET /docs', 'GET /docs/swagger-ui.js', 'GET /openapi.json', 'GET /dev/sign-in', 'POST /dev/sign-in'],
  ...['GET /nowhere', 'POST /nowhere', 'GET /me/projects', 'POST /me/projects', 'GET /v1/models'],
];
const ANONYMOUS = [
  ...Object.keys(ROUTES).filter((route) => ['public', 'page', 'operator'].includes(ROUTES[route]!)),
  ...FURTHER_ROUTES,
];
/** A deletion would remove what the other inputs need; its only input is the path. */
const WITH_SESSION = Object.keys(ROUTES).filter(
  (route) => route.includes(' /me/') && !route.startsWith('DELETE'),
);

let database: TestDatabase;
let measured: MeasuredService;
let document: FuzzDocument;
let authorization: string;
let ids: Record<string, string>;

beforeAll(async () => {
  database = await createDatabase();
  measured = await MeasuredService.start(database.url, {
    SESSION_JWT_SECRET: '', // the development sign-in is on
    DEVICE_CODES_PER_MINUTE: '1000000',
    TRUST_PROXY: '127.0.0.0/8,::1', // each address in X-Forwarded-For is looked at
    CORS_ORIGINS: 'https://app.example.com',
  });
  const { anonymous } = measured.service;
  document = (await anonymous.get('/openapi.json').expect(200)).body as FuzzDocument;
  const { body } = await anonymous.post('/dev/sign-in').send({ email: 'ada@example.com' }).expect(200);
  authorization = `Bearer ${body.token}`;
  ids = await createObjects();
});
afterAll(async () => {
  measured.close();
  await measured.service.end('SIGTERM');
  await database.drop();
});

/** Parameters of paths, by their names in the code. */
async function createObjects(): Promise<Record<string, string>> {
  const make = async (path: string, fields: object) => {
    const request = measured.service.anonymous.post(path).set('Authorization', authorization);
    return String((await request.send(fields).expect(201)).body.id);
  };
  const organizationId = await make('/me/organizations', { name: 'Team', slug: 'team' });
  return {
    ...{ organizationId, userId: 'nobody', userCode: 'BBBB-BBBB' },
    projectId: await make('/me/projects', { name: 'Personal' }),
    teamProjectId: await make(`/me/organizations/${organizationId}/projects`, { name: 'Team' }),
  };
}

function targetOf(route: string, given: Record<string, string> = {}): Pick<Target, 'method' | 'path'> {
  const [method = '', path = ''] = route.split(' ');
  const values = path.includes(':organizationId') ? { ...ids, projectId: ids.teamProjectId! } : ids;
  const filled = path.replace(/:(\w+)/g, (_, name: string) => given[name] ?? values[name] ?? '999');
  return { method, path: filled };
}

/** Inputs that need more CPU time than they may, with what they need. */
async function tooCostly(target: Target, shapes: readonly Shape[]): Promise<string[]> {
  const found: string[] = [];
  for (const shape of shapes) {
    const input = inputOf(target, shape);
    const ms = await measured.cpuMsOf(input, HOPELESS_FACTOR);
    if (ms > target.limitMs) found.push(`${input.name}: ${ms.toFixed(1)} ms`);
    if (ms > target.limitMs * HOPELESS_FACTOR) break; // the inputs that follow may take minutes
  }
  return found;
}

describe('CPU time', () => {
  it.each(ANONYMOUS.filter((route) => IS_FULL || route.startsWith('POST')))(
    `spent on %s is at most ${ANONYMOUS_LIMIT_MS} ms without a session`,
    async (route) => {
      const target = { ...targetOf(route), limitMs: ANONYMOUS_LIMIT_MS };
      const shapes = anonymousShapes(target.method, IS_FULL);
      expect(await tooCostly(target, [...shapes, ...oversizeBodies(target.method)])).toEqual([]);
    },
    TIMEOUT_MS,
  );

  (IS_FULL ? it : it.skip).each(WITH_SESSION)(
    `spent on %s is at most ${SESSION_LIMIT_MS} ms with a session`,
    async (route) => {
      const limits = { limitMs: SESSION_LIMIT_MS, authorization };
      const target = { ...targetOf(route), ...limits };
      const path = documentPath(route.split(' ')[1]!.replace(/:(\w+)/g, '{$1}'));
      const operation = document.paths[path]![target.method.toLowerCase()]!;
      const shapes = target.method === 'GET' ? sessionQueries(operation) : sessionBodies(operation, document);
      const found = await tooCostly(target, shapes);
      for (const [, name = ''] of route.matchAll(/:(\w+)/g)) {
        for (const value of ['1', '%20', 'B', 'B-', 'a%2f']) {
          const long = { ...targetOf(route, { [name]: value.repeat(5_000) }), ...limits };
          found.push(...(await tooCostly(long, [{ name: `a long ${name}` }])));
        }
      }
      expect(found).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
