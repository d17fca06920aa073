import type { ParameterSchemas } from '../common/operation.js';

/** The query of lists of keys. */
export const INCLUDE_REVOKED: ParameterSchemas = {
  include_revoked: {
    type: 'boolean',
    default: false,
    description: 'Whether keys that work no more are listed, too.',
  },
};

/** What is said of minting. */
export const ONCE = 'The answer is the only one that ever shows the key. The body may be left out.';
