import { LOG_LEVELS } from '../../common/logging/logger.js';
import { choice, integer, text } from './declaration.js';

export const OPERATION = {
  NODE_ENV: text({
    values: '`production` or anything else',
    description: '`production` disables the development sign-in and requires the settings of a deployment.',
  }),
  ADMIN_TOKEN: text({
    values: 'text without white space',
    pattern: /^\S+$/,
    problem: 'must not contain white space',
    defaultText: '`/metrics` is open; in production it does not exist',
    description: 'Bearer token for `/metrics`.',
  }),
  LOG_LEVEL: choice({
    choices: LOG_LEVELS,
    default: 'info',
    description: 'Least important level that is logged.',
  }),
  SHUTDOWN_DELAY_MS: integer({
    default: 0,
    min: 0,
    max: 300_000,
    unit: 'ms',
    description: 'Time for which a stopping replica reports that it is not ready and still accepts requests.',
  }),
  USAGE_RETENTION_MONTHS: integer({
    min: 1,
    max: 1_200,
    unit: 'months',
    defaultText: 'usage records are kept forever',
    description: 'Whole months (UTC), beside the current one, for which usage records are kept. Sums stay.',
  }),
};
