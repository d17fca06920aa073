import { WEB_PROTOCOLS, choice, integer, list, text, url } from './declaration.js';

export const ADDRESSES = {
  PORT: integer({ default: 3000, min: 0, max: 65_535, description: 'TCP port; 0 takes any free port.' }),
  HOST: text({
    values: 'address of this machine',
    defaultText: '`0.0.0.0`; with the development sign-in `127.0.0.1`',
    description:
      'Address to listen on. With the development sign-in, any address that is not loopback stops the start.',
  }),
  PUBLIC_URL: url({
    protocols: WEB_PROTOCOLS,
    defaultText: '`http://localhost:$PORT`',
    description: 'Base URL at which browsers and tools reach the service. No user, query or fragment.',
  }),
  DASHBOARD_URL: url({
    protocols: WEB_PROTOCOLS,
    defaultText: '`$PUBLIC_URL`',
    description: 'Base URL of the front end. Invitations lead to `$DASHBOARD_URL/join?token=…`.',
  }),
  SIGN_IN_URL: url({
    protocols: WEB_PROTOCOLS,
    defaultText:
      'the sign-in of the dashboard, `$PUBLIC_URL/sign-in`; with `DASHBOARD=off` the development sign-in, if that is on',
    description:
      'Page to which a browser without a session is redirected, with the parameter `return_to`. The dashboard sends ' +
      'people there, too, and reads the session from the fragment of the URL that they return to.',
  }),
  DASHBOARD: choice({
    choices: ['on', 'off'],
    default: 'on',
    description:
      'Web application at `/`. `off`: the service has only the API and the pages of the device flow.',
  }),
  TRUST_PROXY: list({
    values: 'addresses and CIDR networks',
    description: 'Proxies whose `X-Forwarded-For` is used to find the address of a client.',
  }),
  CORS_ORIGINS: list({
    values: 'origins such as `https://app.example.com`',
    description: 'Origins whose scripts may use the API.',
  }),
};
