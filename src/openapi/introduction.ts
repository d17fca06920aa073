import type { Settings } from '../config/settings.js';

/** Introduction to the API in Markdown. A test runs the commands in it. */
export function createIntroduction({ publicUrl, developmentSignIn }: Settings): string {
  return [
    ABOUT,
    signingIn(publicUrl, developmentSignIn),
    upstreams(publicUrl),
    deviceFlow(publicUrl),
    sdks(publicUrl),
    SPENDING,
    ERRORS,
    LIMITS,
  ].join('\n\n');
}

const ABOUT = `
This service stores documents, manages organizations, issues proxy keys by a device flow, and relays requests with these
keys to providers of models.

Everything that can be owned has two addresses. \`/me/projects\` is owned by your personal organization,
\`/me/organizations/{id}/projects\` by one of your teams. Both have the same bodies, responses and rules.
`.trim();

const developmentSession = (publicUrl: string) =>
  ` In development, this service is its own identity provider:

\`\`\`sh
curl -s ${publicUrl}/dev/sign-in -d '{"email": "ada@example.com"}'
\`\`\``;

const signingIn = (publicUrl: string, developmentSignIn: boolean) =>
  `
## Signing in

All routes below \`/me\` require a **session**: a JWT of the identity provider that this service trusts, sent as
\`Authorization: Bearer\`. Your dashboard has one.${developmentSignIn ? developmentSession(publicUrl) : ''}

\`\`\`sh
SESSION='the token of ${developmentSignIn ? 'the response' : 'your session'}'
curl -s ${publicUrl}/me/projects -H "Authorization: Bearer $SESSION"
\`\`\`

A **proxy key** (\`mk_...\`) is valid for \`/v1\` only, the **admin token** for \`/metrics\` only. Below \`/me\` both get the
same response as a request without a credential.
`.trim();

const upstreams = (publicUrl: string) =>
  `
## Adding an upstream

Requests to \`/v1\` are relayed to your **upstreams**: providers of models, with your API keys. If you have no upstream,
the response is 503 \`no_upstream\`.

\`\`\`sh
PROVIDER_KEY='the API key of your provider'
curl -s -X POST ${publicUrl}/me/upstreams -H "Authorization: Bearer $SESSION" \\
  -d "{\\"name\\": \\"OpenAI\\", \\"base_url\\": \\"https://api.openai.com/v1\\", \\"api_key\\": \\"$PROVIDER_KEY\\"}"
\`\`\`

Admins of a team manage its upstreams at \`/me/organizations/{id}/upstreams\`.
`.trim();

const deviceFlow = (publicUrl: string) =>
  `
## The device flow, step by step

A command-line tool gets a key without ever seeing a session.

**1. The tool begins.** This step needs no credential. The person who approves sees the names that the tool sends.

\`\`\`sh
curl -s -X POST ${publicUrl}/auth/device/code -d '{"name": "mint CLI", "hostname": "adas-laptop"}'
\`\`\`

The tool shows \`user_code\` and \`verification_uri_complete\`. It keeps \`device_code\` secret: not in logs, and not in files
that others can read. After 429 \`rate_limited\` it waits for the seconds in \`Retry-After\` and begins again.

**2. The person approves** in a browser: they open \`verification_uri_complete\`, sign in, compare the code, choose
the owner of the upstreams that the key will use, and press Approve. They have ten minutes.

**3. Meanwhile the tool polls** every \`interval\` (5) seconds:

\`\`\`sh
DEVICE_CODE='the device_code of step 1'
curl -s -X POST ${publicUrl}/auth/device/token -d "{\\"device_code\\": \\"$DEVICE_CODE\\"}"
\`\`\`

| response | what to do |
|---|---|
| 429 \`authorization_pending\` | continue polling |
| 429 \`slow_down\` | wait \`interval\` seconds, then continue polling |
| 200 with \`api_key\` | done: store the key, which is shown only once |
| 400 \`access_denied\` | stop: the person denied the request, left the team, or has too many keys |
| 400 \`expired_token\` | stop, and begin again with step 1 |
| 400 \`invalid_request\` | stop: the request is malformed, or the device code is unknown |
| 408 | send the whole request again: its body took too long |
| 500, 503, no response | continue polling, and double the interval each time (RFC 8628, section 3.5) |

If the 200 response is lost, its key cannot be fetched again. Begin again with step 1, and let the user revoke the lost
key on the keys page or with \`DELETE /me/keys/{id}\`. A tool cannot revoke its own key.

**4. The tool uses the key:**

\`\`\`sh
API_KEY='the api_key of step 3'
curl -s ${publicUrl}/v1/models -H "Authorization: Bearer $API_KEY"
\`\`\`

OAuth libraries that support RFC 8628 can use \`/oauth/device_authorization\` and \`/oauth/token\`. They find both routes
with \`/.well-known/oauth-authorization-server\`. Any \`client_id\` is accepted. \`scope\` is ignored, because all keys have
the same rights.
`.trim();

const sdks = (publicUrl: string) =>
  `
## Using a key with the SDKs

\`\`\`ts
import OpenAI from 'openai';

const openai = new OpenAI({ baseURL: '${publicUrl}/v1', apiKey: process.env.MINTKEEP_KEY });
await openai.chat.completions.create({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello!' }] });
\`\`\`

\`\`\`ts
import Anthropic from '@anthropic-ai/sdk';

const anthropic = new Anthropic({ baseURL: '${publicUrl}', apiKey: process.env.MINTKEEP_KEY });
await anthropic.messages.create({ model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hello!' }] });
\`\`\`

A request goes to the enabled upstreams of the key's owner, lowest \`priority\` first. If an upstream cannot be reached,
or responds with 500 or more or with a status in its \`failover_on\`, the next one is tried. Streams, tools and other
features of an upstream are relayed unchanged.
`.trim();

const SPENDING = `
## Models, limits and costs

The \`models\` of an upstream are rules for the models that it serves and for the names that it gets. Requests for other
models go to other upstreams.

Limits of requests, tokens, money (\`budget\`) and models apply to an organization, to each of its members, and to single
keys. A request over a limit is rejected with 429 \`rate_limited\`, 429 \`budget_exceeded\` or 403 \`model_not_allowed\`.
Responses then have \`x-ratelimit-*\` headers.

Every usage record has a cost, from your own prices or from a price list. Unknown costs are \`null\`, and add nothing to a
budget.
`.trim();

const ERRORS = `
## Errors

\`\`\`json
{"error": {"type": "name_taken", "message": "a project with this name already exists: choose another name"}}
\`\`\`

Branch on the status and on \`type\`. \`type\` is absent if the status is sufficient. \`message\` is for people and may
change. Errors below \`/v1\` have the format of the OpenAI and Anthropic SDKs, with a \`code\`. Errors below \`/oauth\` have
the format of RFC 6749.

Checks are made in this order: session (401), method (405, with \`Allow\`), ids in the path (400), organization (404),
role (403), body (400), resource (404), conflict (409), precondition (412). Resources of another owner are 404, as if
they did not exist. An unknown path is 404 \`not found\`; below \`/me\` a session is required first.

Every response has an \`X-Request-Id\`. If the request has one of up to 128 letters, digits, dots, hyphens and
underscores, the response repeats it. Quote the id when you report a problem.
`.trim();

/** "By default" marks the limits that a setting changes. All others are constants. */
const LIMITS = `
## Limits

The operator can change the limits that apply by default. A request beyond a limit is rejected with the status in the table.

| what | limit |
|---|---|
| body of a request below \`/me\` | 1 MiB (1,048,576 bytes); 400 |
| body of a request below \`/auth\` or \`/oauth\` | 16 KiB (16,384 bytes) and 100 form parameters; 400 |
| chunks of a body, except below \`/v1\` | 16,384; 400 |
| body of a request below \`/v1\` | 32 MiB by default; 413 |
| headers of a request | 16 KiB and 100 headers; 431 |
| time to receive a request | 15 s for its headers, 300 s for the whole request, 10 s for a body below \`/auth\` or \`/oauth\`; 408 |
| concurrent streams of a proxy key | 200 by default; 429 \`too_many_streams\` |
| requests of a proxy key per minute | unlimited by default; 429 \`rate_limited\` with \`Retry-After\` |
| concurrent requests of an owner to \`/v1\` | 500 by default; 429 \`rate_limited\` with \`Retry-After\` |
| rate of a request's body after its first MiB | at least 16 KiB/s, measured over 10 s; 408 \`request_timeout\` |
| active keys (neither revoked nor expired) | 1,000 of a user in one organization, 2,000 of a user in all organizations, 10,000 of an organization; 409 \`too_many_keys\` |
| projects of a person or team | 1,000; 409 \`too_many_projects\` |
| documents of a project | 10,000; 409 \`too_many_documents\` |
| existing teams that a user created | 100; 409 \`too_many_organizations\` |
| members of an organization | 1,000; accepting an invitation is then 409 \`too_many_members\` |
| pending invitations of an organization | 500; 409 \`too_many_invitations\` |
| upstreams of a person or team | 100; 409 \`too_many_upstreams\` |
| model rules of an upstream | 1 to 500, of 1 to 256 characters; 4 MiB for all upstreams of an owner; 409 \`models_too_long\` |
| own prices | 500 entries |
| models of a limit | 100 patterns |
| descriptions of all projects of a person or team | 8 MiB in total; 409 \`descriptions_too_long\` |
| names and titles | 1 to 255 characters after trimming |
| slugs | 1 to 80 of \`a-z\`, \`0-9\` and hyphen, without a hyphen at either end |
| ids | integers of up to 15 digits |
| lists of keys | all active keys and the 1,000 keys that expired last; with \`include_revoked\` also the 1,000 keys that were revoked last |
| lists of invitations | all pending invitations and the 1,000 newest others |
| pages of the audit trail and of usage | 50 entries, up to 200 with \`limit\`; a page has at most 4 MiB, but at least one entry |
| invitations | valid for 7 days; one pending invitation per address |
| device flow | 600 seconds in total, one poll every 5 seconds; per client address 60 device codes a minute by default; 429 \`rate_limited\` |
`.trim();
