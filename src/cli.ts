import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { JsonLogger } from './common/logger.js';
import { parseSettings } from './config/parse-settings.js';
import { startEmbeddedPostgres } from './database/embedded/embedded-postgres.js';
import { UpstreamsService } from './upstreams/upstreams.service.js';

const COMMANDS: Record<string, (app: Application) => Promise<string>> = {
  /** Puts everything that is encrypted under the first of `ENCRYPTION_KEYS`; then the others can go. */
  'encryption:rotate': async (app) => `${await app.get(UpstreamsService).reencrypt()} API keys re-encrypted`,
};

type Application = Awaited<ReturnType<typeof NestFactory.createApplicationContext>>;

/** The operator's commands: `node dist/cli.js <command>`, with the settings of the service. */
async function main(name = ''): Promise<void> {
  const command = COMMANDS[name];
  if (!command) throw new Error(`usage: node dist/cli.js ${Object.keys(COMMANDS).join(' | ')}`);
  const settings = parseSettings(process.env);
  const { databaseUrl, dataDir, logLevel } = settings;
  const embedded = databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir }) : undefined;
  try {
    const module = AppModule.with(settings, databaseUrl ?? embedded!.url);
    const app = await NestFactory.createApplicationContext(module, {
      logger: new JsonLogger(logLevel),
      abortOnError: false,
    });
    process.stdout.write(`${await command(app)}\n`);
    await app.close();
  } finally {
    await embedded?.stop();
  }
}

main(process.argv[2]).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  },
);
