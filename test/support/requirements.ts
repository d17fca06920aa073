import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Something of the machine that some tests need. */
export interface Requirement {
  /** Kind of tests that need it, as the closing line of a run names them. */
  readonly tests: string;
  readonly isMet: boolean;
  /** Reason and remedy, for a reader of the closing line. */
  readonly hint: string;
  /** Whether a missing program is a failure with `CI=true`. */
  readonly isMandatoryInCi: boolean;
}

const PATH_FOLDERS = (process.env.PATH ?? '').split(delimiter);
/** Debian installs servers here, which is not on the PATH of an ordinary user. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/sbin'];

export const NGINX_PATH = findProgram(['nginx']);
export const CHROMIUM_PATH = findProgram([
  ...(process.env.CHROMIUM_PATH ? [process.env.CHROMIUM_PATH] : []),
  'chromium',
  'chromium-browser',
  'google-chrome',
]);

export const NGINX: Requirement = {
  tests: 'load balancer tests',
  isMet: NGINX_PATH !== undefined,
  hint: 'nginx is not installed: apt-get install nginx-light',
  isMandatoryInCi: true,
};

export const HAPROXY_PATH = findProgram(['haproxy']);
export const CADDY_PATH = findProgram(['caddy']);

const balancer = (name: string, isMet: boolean, isMandatoryInCi: boolean): Requirement => ({
  tests: `${name} tests`,
  isMet,
  hint: `${name} is not installed: apt-get install ${name.toLowerCase()}`,
  isMandatoryInCi,
});

export const HAPROXY = balancer('HAProxy', HAPROXY_PATH !== undefined, true);
export const CADDY = balancer('Caddy', CADDY_PATH !== undefined, false);

export const CHROMIUM: Requirement = {
  tests: 'browser tests',
  isMet: CHROMIUM_PATH !== undefined,
  hint: 'Chromium is not installed: apt-get install chromium, or set CHROMIUM_PATH',
  isMandatoryInCi: true,
};

export const CURL: Requirement = {
  tests: 'documented commands',
  isMet: findProgram(['curl'], PATH_FOLDERS) !== undefined,
  hint: 'curl is not installed: apt-get install curl',
  isMandatoryInCi: true,
};

const shell = (name: string): Requirement => ({
  tests: `${name} tests`,
  isMet: findProgram([name], PATH_FOLDERS) !== undefined,
  hint: `${name} is not installed: apt-get install ${name}`,
  isMandatoryInCi: true,
});

export const BASH = shell('bash');
export const ZSH = shell('zsh');
export const FISH = shell('fish');

/**
 * Programs that generate clients from the OpenAPI document and compile them.
 * @param canDownload whether the registries of the languages can be reached
 */
export const clientLanguages = (canDownload: boolean): Requirement => ({
  tests: 'tests of generated clients',
  isMet: canDownload && ['java', 'go', 'python3'].every((name) => findProgram([name]) !== undefined),
  hint: canDownload
    ? 'Java, Go or Python is not installed: apt-get install openjdk-17-jre-headless golang python3-venv'
    : 'Maven Central, the Go proxy or PyPI cannot be reached',
  isMandatoryInCi: false,
});

export const ORDINARY_USER: Requirement = {
  tests: 'file permission tests',
  isMet: process.getuid?.() !== 0,
  hint: 'root may write everywhere: run them as an ordinary user',
  isMandatoryInCi: false,
};

/** Runs the tests if the requirement is met. Otherwise they are skipped, and the closing line says why. */
export function describeWith(requirement: Requirement, title: string, tests: () => void): void {
  const { isMet, isMandatoryInCi, hint } = requirement;
  if (isMet) return describe(title, tests);
  if (!isMandatoryInCi || process.env.CI !== 'true')
    return describe.skip(skippedTitle(title, requirement), tests);
  describe(title, () => {
    it('finds what it needs', () => {
      throw new Error(`${hint} (mandatory because CI=true)`);
    });
  });
}

/** `test/support/skipped-reporter.mjs` reads the requirement from the title. */
function skippedTitle(title: string, { tests, hint }: Requirement): string {
  return `${title} [skipped: ${tests} (${hint})]`;
}

/** @param names file names, or paths */
function findProgram(
  names: readonly string[],
  folders: readonly string[] = [...PATH_FOLDERS, ...SYSTEM_FOLDERS],
): string | undefined {
  const paths = names.flatMap((name) =>
    name.includes('/') ? name : folders.map((folder) => join(folder, name)),
  );
  return paths.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
