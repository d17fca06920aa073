import { readFileSync } from 'node:fs';
import { CLI_PATH, cliPage } from '../../docs/generate/cli.js';
import { CONFIGURATION_PATH, configurationPage } from '../../docs/generate/configuration.js';
import { DECLARATION_GROUPS, DECLARATIONS } from '../../src/config/declarations/declarations.js';

it('the documentation of settings and limits is up to date: run "npm run docs:generate"', () => {
  expect(readFileSync(CONFIGURATION_PATH, 'utf8')).toBe(configurationPage());
});

it('the reference of the command-line client is up to date: run "npm run docs:generate"', () => {
  const page = readFileSync(CLI_PATH, 'utf8');
  expect(page).toBe(cliPage(page));
});

it('every setting is in one group', () => {
  const grouped = DECLARATION_GROUPS.flatMap(([, group]) => Object.keys(group));
  expect(grouped.sort()).toEqual(Object.keys(DECLARATIONS).sort());
});
