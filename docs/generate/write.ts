import { readFileSync, writeFileSync } from 'node:fs';
import { CLI_PATH, cliPage } from './cli.js';
import { CONFIGURATION_PATH, configurationPage } from './configuration.js';

writeFileSync(CONFIGURATION_PATH, configurationPage());
writeFileSync(CLI_PATH, cliPage(readFileSync(CLI_PATH, 'utf8')));
