import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { BASH, CADDY, CHROMIUM, CURL, FISH, HAPROXY, NGINX, ZSH } from '../support/requirements.js';

interface Workflow {
  readonly jobs: Record<string, { readonly steps: readonly { readonly run?: string }[] }>;
}

const { jobs } = parse(readFileSync('.github/workflows/test.yml', 'utf8')) as Workflow;
const installedBy = (job: string) =>
  jobs[job]!.steps.flatMap(({ run = '' }) => /apt-get install (.*)/.exec(run)?.[1]?.split(' ') ?? []);

it('a missing program is a failure with CI=true, except for Caddy', () => {
  const mandatory = [NGINX, HAPROXY, CHROMIUM, CURL, BASH, ZSH, FISH].map((each) => each.isMandatoryInCi);
  expect(mandatory).toEqual(mandatory.map(() => true));
  expect(CADDY.isMandatoryInCi).toBe(false);
});

it('every run installs the programs that its runner does not have', () => {
  expect(installedBy('test')).toEqual(expect.arrayContaining(['nginx-light', 'zsh', 'fish']));
  expect(installedBy('reliability')).toEqual(expect.arrayContaining(['nginx-light', 'haproxy', 'caddy']));
  const script = readFileSync('.ci/run', 'utf8');
  for (const program of ['chromium', 'nginx-light', 'curl', 'haproxy', 'zsh', 'fish'])
    expect(script).toMatch(new RegExp(`\\b${program}\\b`));
});
