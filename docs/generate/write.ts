import { writeFileSync } from 'node:fs';
import { CONFIGURATION_PATH, configurationPage } from './configuration.js';

writeFileSync(CONFIGURATION_PATH, configurationPage());
