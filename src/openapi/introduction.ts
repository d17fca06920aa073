import type { Settings } from '../config/settings.js';

/** What an integrator reads first, in Markdown. The commands in it are run by a test. */
export function introduction({ publicUrl, developmentSignIn }: Settings): string {
  return [
    ABOUT,
    signingIn(publicUrl, developmentSignIn),
    upstreams(publicUrl),
    deviceFlow(publicUrl),
    sdks(publicUrl),
    ERRORS,
    LIMITS,
  ].join('\n\n');
}

const ABOUT = `
Documents, organizations, keys by device flow, and the proxy that they open.

What you own has two addresses: \`/me/projects\` is what your personal organization owns,
\`/me/organizations/{id}/projects\` what one of your teams owns. Bodies, answers and rules are the same.
`.trim();

const developmentSession = (publicUrl: string) =>
  ` This service, in development, is an identity provider itself:

\`\`\`sh
curl -s ${publicUrl}/dev/sign-in -d '{"email": "ada@example.com"}'
\`\`\``;

const signingIn = (publicUrl: string, developmentSignIn: boolean) =>
  `
## Signing in

Everything below \`/me\` takes a **session**: a JWT of the identity provider that this service trusts, as
\`Authorization: Bearer\`. Your dashboard has one.${developmentSignIn ? developmentSession(publicUrl) : ''}

\`\`\`sh
SESSION='the token of ${developmentSignIn ? 'the answer' : 'your session'}'
curl -s ${publicUrl}/me/projects -H "Authorization: Bearer $SESSION"
\`\`\`

A **proxy key** (\`mk_...\`) opens \`/v1\` and nothing else, the **admin token** \`/metrics\` and nothing else.
Below \`/me\` both are answered like no credential at all.
`.trim();

const upstreams = (publicUrl: string) =>
  `
## An upstream

Requests to \`/v1\` go to your **upstreams**: providers of models, with your keys for them. Without one they are
answered with 503 \`no_upstream\`.

\`\`\`sh
PROVIDER_KEY='the API key of your provider'
curl -s -X POST ${publicUrl}/me/upstreams -H "Authorization: Bearer $SESSION" \\
  -d "{\\"name\\": \\"OpenAI\\", \\"base_url\\": \\"https://api.openai.com/v1\\", \\"api_key\\": \\"$PROVIDER_KEY\\"}"
\`\`\`

Those of a team are at \`/me/organizations/{id}/upstreams\`, for its admins.
`.trim();

const deviceFlow = (publicUrl: string) =>
  `
## The device flow, step by step

How a command-line tool gets a key without ever seeing a session.

**1. The tool begins.** No credential is needed; what the tool calls itself is shown to the person.

\`\`\`sh
curl -s -X POST ${publicUrl}/auth/device/code -d '{"name": "mint CLI", "hostname": "adas-laptop"}'
\`\`\`

It keeps \`device_code\` to itself (not in logs, not in files that others read) and shows \`user_code\` and
\`verification_uri_complete\`. After 429 \`rate_limited\` it waits for the seconds of \`Retry-After\` and begins again.

**2. The person approves** in a browser: they open \`verification_uri_complete\`, sign in, compare the code, choose
whose upstreams the key is for, and press Approve. They have ten minutes.

**3. Meanwhile the tool polls,** every \`interval\` (5) seconds:

\`\`\`sh
DEVICE_CODE='the device_code of step 1'
curl -s -X POST ${publicUrl}/auth/device/token -d "{\\"device_code\\": \\"$DEVICE_CODE\\"}"
\`\`\`

| answer | what to do |
|---|---|
| 429 \`authorization_pending\` | go on polling |
| 429 \`slow_down\` | wait \`interval\` seconds, go on polling |
| 200 with \`api_key\` | done: the key is shown this once |
| 400 \`access_denied\` | stop: the person said no |
| 400 \`expired_token\` | stop: begin anew |
| 400 \`invalid_request\` | stop: this is no device code |
| 500, 503, no answer | go on polling, with a pause that doubles each time (RFC 8628, section 3.5) |

A 200 that got lost on its way cannot be had again: begin anew, and have the user revoke the key that nobody got, on
the keys page or by \`DELETE /me/keys/{id}\`. A tool cannot revoke its key itself.

**4. The tool uses the key:**

\`\`\`sh
API_KEY='the api_key of step 3'
curl -s ${publicUrl}/v1/models -H "Authorization: Bearer $API_KEY"
\`\`\`

Ordinary OAuth libraries do all this over \`/oauth/device_authorization\` and \`/oauth/token\`, which they find by
\`/.well-known/oauth-authorization-server\`. Any \`client_id\` will do. A \`scope\` is ignored: no key is narrower than
another.
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

Requests go to the enabled upstreams of the key's one owner, the lowest \`priority\` first; the next one is tried
when one cannot be reached or answers with 500 or more. Streams, tools and whatever else an upstream can do pass
unchanged.
`.trim();

const ERRORS = `
## Errors

\`\`\`json
{"error": {"type": "name_taken", "message": "a project with this name exists already"}}
\`\`\`

Branch on the status and on \`type\`, which is left out where the status says all there is; \`message\` is for people
and may change. Below \`/v1\` the body is the one that the OpenAI and Anthropic SDKs know, with a \`code\`; below
\`/oauth\` it is that of RFC 6749.

Checks are made in this order: session (401), method (405, with \`Allow\`), ids in the path (400), organization (404),
role (403), body (400), resource (404), conflict (409), precondition (412). What belongs to somebody else does not
exist: 404. A path that is unknown is 404 \`not found\`, below \`/me\` only with a session. Every answer has an
\`X-Request-Id\`: yours, if you send one of up to 128 letters, digits, dots, hyphens and underscores. Quote it when you
report a problem.
`.trim();

const LIMITS = `
## Limits

| what | limit |
|---|---|
| body of a request below \`/me\` | 1 MiB (1,048,576 bytes); 400 beyond |
| body of a request below \`/v1\` | 32 MiB unless the operator says otherwise; 413 beyond |
| headers of a request | 16 KiB and 100 of them unless the operator says otherwise; 431 beyond |
| time for a request to come in | 15 s for its headers, 300 s for all of it unless the operator says otherwise; 408 beyond |
| streams of a proxy key that are open at once | 200 unless the operator says otherwise; 429 \`too_many_streams\` beyond |
| requests of a proxy key in a minute | no limit unless the operator says otherwise; 429 \`rate_limited\` with \`Retry-After\` beyond |
| upstreams of a person or team | 1,000; 409 \`too_many_upstreams\` beyond |
| descriptions of a person's or team's projects | 8 MiB together; 409 \`descriptions_too_long\` beyond |
| names and titles | 1 to 255 characters after trimming |
| slugs | 1 to 80 of \`a-z\`, \`0-9\` and hyphen, no hyphen at either end |
| ids | integers of up to 15 digits |
| pages of the audit trail and of usage | 50 at a time, up to 200 with \`limit\` |
| invitations | valid for 7 days, one pending for an address |
| device flow | 600 seconds, a poll every 5; 60 beginnings a minute from one address unless the operator says otherwise |
`.trim();
