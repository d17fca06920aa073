import { UpstreamsModule } from '../upstreams/upstreams.module.js';
import { UpstreamsService } from '../upstreams/upstreams.service.js';
import { withModules } from './application.js';
import { DONE } from './command.js';
import type { Command } from './command.js';

export const rotateEncryptionCommand: Command = {
  name: 'encryption:rotate',
  summary:
    'encrypts all secrets with the first of ENCRYPTION_KEYS; afterwards, the other keys can be removed',
  async run(context) {
    const count = await withModules(context, [UpstreamsModule], (app) =>
      app.get(UpstreamsService).reencrypt(),
    );
    context.print(`${count} API keys re-encrypted`);
    return DONE;
  },
};
