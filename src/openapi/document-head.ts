/** One scheme for each credential; none of them is good for what another is for. */
export const securitySchemes = (cookieName: string): Record<string, object> => ({
  session: {
    ...{ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    description: 'A session of the identity provider, for everything below `/me`.',
  },
  sessionCookie: {
    ...{ type: 'apiKey', in: 'cookie', name: cookieName },
    description: 'The same session as browsers have it; for the approval page alone.',
  },
  proxyKey: {
    ...{ type: 'http', scheme: 'bearer', bearerFormat: 'mk_...' },
    description: 'A proxy key, for everything below `/v1`.',
  },
  proxyKeyAsXApiKey: {
    ...{ type: 'apiKey', in: 'header', name: 'x-api-key' },
    description: 'The same key, as the Anthropic SDKs send it.',
  },
  proxyKeyAsApiKey: {
    ...{ type: 'apiKey', in: 'header', name: 'api-key' },
    description: 'The same key, as the Azure SDKs send it.',
  },
  adminToken: {
    ...{ type: 'http', scheme: 'bearer' },
    description: '`ADMIN_TOKEN` of the service, for `/metrics`.',
  },
});

/** In the order of the page. */
export const TAGS = [
  { name: 'Projects', description: 'Documents are grouped by projects. A project has one owner.' },
  { name: 'Documents', description: 'Markdown under a slug. The service does not look into it.' },
  { name: 'Organizations', description: 'Owners, their members and their audit trail.' },
  { name: 'Invitations', description: 'The way into an organization, pinned to an address.' },
  { name: 'Upstreams', description: 'Where requests to `/v1` go: providers with the keys for them.' },
  { name: 'Keys', description: 'What tools send to `/v1`. A key opens the upstreams of one owner.' },
  {
    name: 'Device flow',
    description: 'How a command-line tool gets a key that a person approves in a browser.',
  },
  { name: 'OAuth', description: 'The device flow for clients that speak RFC 8628.' },
  { name: 'Usage', description: 'What was asked of the upstreams, by whom, and what it took.' },
  { name: 'Proxy', description: 'Requests to models, as OpenAI and Anthropic have them.' },
  { name: 'Sign-in', description: 'Sessions for development.' },
  { name: 'Operation', description: 'For whoever runs the service.' },
];
