/** Security schemes of the document, one per credential. No credential is valid where another one is required. */
export const securitySchemes = (cookieName: string): Record<string, object> => ({
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A session of the identity provider, for all routes below `/me`.',
  },
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieName,
    description: 'The same session in a cookie, for the approval page only.',
  },
  proxyKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'mk_...',
    description: 'A proxy key, for all routes below `/v1`.',
  },
  proxyKeyAsXApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'A proxy key, in the header of the Anthropic SDKs.',
  },
  proxyKeyAsApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'api-key',
    description: 'A proxy key, in the header of the Azure SDKs.',
  },
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    description: '`ADMIN_TOKEN` of the service, for `/metrics`.',
  },
});

/** Groups of operations, in the order of the page. */
export const TAGS = [
  { name: 'Projects', description: 'Groups of documents. A project has one owner.' },
  {
    name: 'Documents',
    description: 'Markdown texts, each with a slug. The service does not interpret them.',
  },
  { name: 'Organizations', description: 'Owners, their members and their audit trail.' },
  { name: 'Invitations', description: 'Invitations to join an organization, each for one e-mail address.' },
  {
    name: 'Upstreams',
    description: 'Providers of models, with their API keys. Requests to `/v1` go to them.',
  },
  {
    name: 'Keys',
    description: 'Proxy keys, which tools send to `/v1`. A key gives access to the upstreams of one owner.',
  },
  {
    name: 'Device flow',
    description: 'A command-line tool gets a key that a person approves in a browser.',
  },
  { name: 'OAuth', description: 'The device flow for clients of RFC 8628.' },
  { name: 'Usage', description: 'Requests to the upstreams, their users, token counts and costs.' },
  { name: 'Limits', description: 'Limits of requests, tokens, money and models.' },
  { name: 'Prices', description: 'Prices of models, for the costs of usage.' },
  { name: 'Proxy', description: 'Requests to models, in the formats of OpenAI and Anthropic.' },
  { name: 'Dashboard', description: 'What the web application needs before anybody is signed in.' },
  { name: 'Sign-in', description: 'Sessions for development.' },
  { name: 'Operation', description: 'Health checks and metrics for operators.' },
];
