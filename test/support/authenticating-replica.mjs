import 'reflect-metadata';
import { createServer } from 'node:http';
import { parseSettings } from '../../dist/config/parse-settings.js';
import { KeyAuthenticator } from '../../dist/keys/key-authenticator.js';
import { setupApp } from '../../dist/setup-app.js';

/**
 * Replica as a process of its own: the service on one port, and on another one a server that authenticates keys as
 * the proxy does and responds with the id of the key of the request. Prints both ports as JSON.
 */
const settings = parseSettings(process.env);
const app = await setupApp(settings, settings.databaseUrl);
const authenticator = app.get(KeyAuthenticator);
await app.listen(0, '127.0.0.1');

const server = createServer(async (request, response) => {
  try {
    const key = await authenticator.authenticate(request.headers.authorization);
    response.writeHead(key ? 200 : 401).end(key ? String(key.id) : '');
  } catch (error) {
    response.writeHead(error.status ?? 500).end();
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ api: app.getHttpServer().address().port, keys: server.address().port })}\n`,
  );
});

process.on('SIGTERM', async () => {
  server.closeAllConnections();
  server.close();
  await app.close();
  process.exit(0);
});
