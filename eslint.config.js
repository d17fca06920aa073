import js from '@eslint/js';
import jsdoc from 'eslint-plugin-jsdoc';
import reactHooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** Openings that hide the subject: a description or a name starts with a noun phrase or a verb. */
const RELATIVE_OPENINGS =
  'What|Who|Whose|Whom|Where|Which|Of|From|Behind|Beside|For|But|As|By|In|On|To|With|Without|After|Before|Nor|Not|One|Those|That|It|They';

/** Openings that test names reject: a doc comment may state its condition first, a test name may not. */
const TEST_NAME_OPENINGS = `${RELATIVE_OPENINGS}|At|While|If|When|Until|Under|Over`;

const testNames = (() => {
  const opening = `/^(?:${TEST_NAME_OPENINGS})\\b/i`;
  const callees = [
    ['[callee.name=/^(?:it|describe|test)$/]', ':first-child'],
    ['[callee.object.name=/^(?:it|describe|test)$/][callee.property.name!="each"]', ':first-child'],
    ['[callee.callee.property.name="each"]', ':first-child'],
    ['[callee.name="describeWith"]', ':nth-child(2)'],
  ];
  return callees.flatMap(([callee, position]) => [
    `CallExpression${callee} > Literal${position}[value=${opening}]`,
    `CallExpression${callee} > TemplateLiteral${position} > TemplateElement:first-child[value.raw=${opening}]`,
  ]);
})();

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
    files: ['**/*.spec.ts', 'test/**/*.ts'],
    rules: {
      // A second `no-restricted-syntax` for these files would replace this one: add its selectors here.
      'no-restricted-syntax': [
        'error',
        ...testNames.map((selector) => ({
          selector,
          message:
            'A test name starts with a noun phrase or a verb, not with a preposition, conjunction or relative word. The names of describe and it read as one sentence.',
        })),
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
