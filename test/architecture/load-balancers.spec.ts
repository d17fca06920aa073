import { parse } from 'yaml';
import { composeFile, configOf } from '../support/compose.js';
import { documentedBlock } from '../support/documented-balancer.js';
import { checkDocumentedConfiguration } from '../support/nginx.js';
import { describeWith, NGINX } from '../support/requirements.js';

interface TraefikConfiguration {
  readonly http: {
    readonly routers: Record<
      string,
      { rule: string; priority: number; service: string; entryPoints: string[] }
    >;
    readonly services: Record<string, { loadBalancer: TraefikBalancer }>;
    readonly serversTransports: Record<string, { forwardingTimeouts: Record<string, string> }>;
  };
}

interface TraefikBalancer {
  readonly servers: readonly { url: string }[];
  readonly healthCheck: { path: string; interval: string };
  readonly serversTransport: string;
}

const REPLICAS = [{ url: 'http://mintkeep-1:3000' }, { url: 'http://mintkeep-2:3000' }];

describe('the example for Traefik', () => {
  const { routers, services, serversTransports } = (parse(documentedBlock('yaml')) as TraefikConfiguration)
    .http;

  it('prefers the pool of the proxy below /v1, although the rule of the rest is longer', () => {
    const { proxy, rest } = routers;
    expect([proxy!.rule, proxy!.service]).toEqual(['PathPrefix(`/v1/`)', 'proxy']);
    expect([rest!.rule, rest!.service]).toEqual([
      'PathPrefix(`/`) && !PathRegexp(`(?i)^/+metrics/*$`)',
      'rest',
    ]);
    // Traefik ignores a priority of 0, and derives it from the length of the rule.
    expect(rest!.priority).toBeGreaterThan(0);
    expect(proxy!.priority).toBeGreaterThan(rest!.priority);
  });

  it('has a pool with its own readiness for the proxy, and names only what it has', () => {
    const checks = Object.entries(services).map(([name, { loadBalancer }]) => {
      const { servers, healthCheck, serversTransport } = loadBalancer;
      expect(servers).toEqual(REPLICAS);
      expect(Object.keys(serversTransports)).toContain(serversTransport);
      return [name, healthCheck.path];
    });
    expect(checks).toEqual([
      ['proxy', '/readyz?for=proxy'],
      ['rest', '/readyz'],
    ]);
    for (const { service } of Object.values(routers)) expect(services).toHaveProperty(service);
  });
});

describe('the example for nginx', () => {
  const directives = (text: string) =>
    text
      .replace(/ *#.*/g, '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.endsWith(';'));

  it('has only directives of the compose file, timeouts included', () => {
    const example = directives(documentedBlock('nginx'));
    expect(directives(configOf(composeFile(), 'nginx'))).toEqual(expect.arrayContaining(example));
    for (const name of [
      'client_body_timeout',
      'send_timeout',
      'underscores_in_headers',
      'proxy_read_timeout',
    ])
      expect(example).toContainEqual(expect.stringMatching(new RegExp(`^${name} `)));
  });
});

describeWith(NGINX, 'the example for nginx in nginx', () => {
  it('is valid', () => checkDocumentedConfiguration(documentedBlock('nginx')));
});
