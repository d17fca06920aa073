import js from '@eslint/js';
import jsdoc from 'eslint-plugin-jsdoc';
import reactHooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** Openings of doc comments that hide the subject: a description starts with a noun phrase or a verb. */
const RELATIVE_OPENINGS =
  'What|Who|Whose|Whom|Where|Which|Of|From|Behind|Beside|For|But|As|By|In|On|To|With|Without|After|Before|Nor|Not|One|Those|That|It|They';

export default tseslint.config(
  {
    ignores: [
      'dist',
      'data',
      'coverage',
      'cli/dist',
      'dashboard/dist',
      'dashboard/src/api/schema.d.ts',
      'test/reliability/clients',
    ],
  },
  js.configs.recommended,
  { languageOptions: { globals: globals.node } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.recommendedTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      complexity: ['error', 10],
      'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': ['error', { allowedNames: ['transform'] }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-extraneous-class': 'off', // Nest's modules
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/only-throw-error': 'off', // what was caught is thrown on as it is
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { jsdoc },
    rules: {
      'jsdoc/match-description': [
        'error',
        { contexts: ['any'], mainDescription: `^(?!(?:${RELATIVE_OPENINGS})\\b)[\\s\\S]*$` },
      ],
    },
  },
  {
    files: ['dashboard/src/**/*.{ts,tsx}'],
    ...reactHooks.configs.flat['recommended-latest'],
    languageOptions: { globals: globals.browser },
  },
  {
    files: ['dashboard/src/**/{queries,contents}.ts'],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' }, // `queryOptions` infers them for its callers
  },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'no-console': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off', // bodies of answers are what they are
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
    },
  },
);
