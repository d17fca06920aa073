import { candidateNames } from './search-list.js';

const KUBERNETES =
  'nameserver 10.0.0.10\nsearch shop.svc.cluster.local svc.cluster.local\noptions timeout:1 ndots:5\n';

it.each([
  ['ollama', '', ['ollama']],
  ['ollama', 'nameserver 127.0.0.11\noptions ndots:0\n', ['ollama']],
  ['ollama', 'search lan.example.\n', ['ollama.lan.example', 'ollama']],
  ['ollama', 'domain lan.example', ['ollama.lan.example', 'ollama']],
  [
    'ollama',
    'domain a.example\nsearch b.example c.example',
    ['ollama.b.example', 'ollama.c.example', 'ollama'],
  ],
  ['ollama', '# search a.example\n;search b.example\nsearch .\n', ['ollama']],
  ['api.example.com', 'search lan.example', ['api.example.com', 'api.example.com.lan.example']],
  ['api.example.com.', 'search lan.example', ['api.example.com']],
  ['api.example.com.', KUBERNETES, ['api.example.com']],
  ['api.dev', KUBERNETES, ['api.dev.shop.svc.cluster.local', 'api.dev.svc.cluster.local', 'api.dev']],
])('%s with %j is queried as %j', (hostname, config, names) => {
  expect(candidateNames(hostname, config)).toEqual(names);
});
