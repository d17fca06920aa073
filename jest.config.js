import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The unit and end-to-end tests together. */
const COVERAGE_FLOOR = { statements: 82, branches: 75, functions: 82, lines: 84 };

/** Starts processes and kills them: too slow for the unit tests. */
const CRASH_SPEC = 'embedded-postgres.spec.ts';

/** Specs beside the code that import a service or a database from `test/support`. They need a build and PostgreSQL. */
const databaseSpecs = readdirSync('src', { recursive: true })
  .map((path) => join('src', path))
  .filter((path) => path.endsWith('.spec.ts') && needsDatabase(readFileSync(path, 'utf8')));

function needsDatabase(text) {
  return /test\/support\/(app|database|service)\.js'|\/dist\//.test(text);
}

const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          target: 'es2022',
          keepClassNames: true,
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  modulePathIgnorePatterns: [
    '<rootDir>/dist/',
    '<rootDir>/data/',
    '<rootDir>/cli/dist/',
    '<rootDir>/dashboard/dist/',
  ],
};

const withDatabase = {
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

/** The tiers; CONTRIBUTING.md has the command for each. */
export default {
  maxWorkers: 4,
  workerIdleMemoryLimit: '400MB',
  testTimeout: 180_000,
  reporters: ['default', '<rootDir>/test/support/skipped-reporter.mjs'],
  collectCoverageFrom: ['<rootDir>/src/**/*.ts', '!**/*.spec.ts'],
  coverageReporters: ['text-summary'],
  coverageThreshold: { global: COVERAGE_FLOOR },
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{src,bench,test/architecture,cli/src,dashboard/src}/**/*.spec.ts'],
      testPathIgnorePatterns: [CRASH_SPEC, ...databaseSpecs],
    },
    {
      ...shared,
      ...withDatabase,
      displayName: 'end-to-end',
      testMatch: [
        '<rootDir>/test/{e2e,cli}/**/*.spec.ts',
        ...databaseSpecs.map((path) => `<rootDir>/${path}`),
      ],
    },
    {
      ...shared,
      ...withDatabase,
      displayName: 'reliability',
      testMatch: ['<rootDir>/test/{reliability,fuzz}/**/*.spec.ts', `<rootDir>/src/**/${CRASH_SPEC}`],
    },
    {
      ...shared,
      ...withDatabase,
      displayName: 'dashboard',
      testMatch: ['<rootDir>/test/dashboard/**/*.spec.ts'],
    },
    {
      ...shared,
      ...withDatabase,
      displayName: 'screenshots',
      testMatch: ['<rootDir>/docs/generate/screenshots.ts'],
    },
  ],
};
