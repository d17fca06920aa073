import { Get, Headers, HttpStatus, Logger, Param, ParseIntPipe, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { notModified } from '../common/api/conditional.js';
import { NotFound } from '../common/api/domain-error.js';
import { Flag, flagParameter, InvalidFlag } from '../common/api/flag-query.js';
import { Operation } from '../common/api/operation.js';
import { requestIdOf } from '../common/api/request-id.js';
import { errorMessage } from '../common/logging/error-message.js';
import { OwnedController, Scope } from '../organizations/scope/owner-scope.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { writeArchive } from './export/archive.js';
import { TooManyExports } from './store/documents.errors.js';
import { ProjectExport } from './project-export.js';

const FRONT_MATTER = flagParameter(
  'front_matter',
  'Whether each file begins with the title and the times of its document, as YAML between `---` lines.',
);
const HEADERS = {
  'If-None-Match': { type: 'string', description: 'Entity tag of an archive that the client has.' },
};

/** ZIP archive of the documents of a project. Too many archives at once are rejected with {@link TooManyExports}. */
@ApiTags('Projects')
@OwnedController('projects/:projectId/export')
export class ExportController {
  private readonly logger = new Logger(ExportController.name);

  constructor(private readonly exports: ProjectExport) {}

  @Operation('exportProject', 'Export the documents of a project', {
    description:
      'A ZIP archive with a file `{slug}.md` for each document. Slugs that Windows reserves get an underscore: ' +
      '`_con.md`. If a document cannot be read, the transfer ends early.',
    response: 'zip',
    responseHeaders: ['Content-Disposition'],
    query: FRONT_MATTER,
    headers: HEADERS,
    rejects: [NotFound, new InvalidFlag('front_matter'), TooManyExports],
  })
  @Get()
  async export(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) projectId: number,
    @Flag('front_matter') frontMatter: boolean,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const prepared = await this.exports.prepare(scope, projectId, frontMatter);
    response.set({ ETag: prepared.entityTag, 'Cache-Control': 'private, no-cache' });
    if (notModified(ifNoneMatch, prepared.entityTag)) {
      response.status(HttpStatus.NOT_MODIFIED).end();
      return;
    }
    await this.exports.limit(scope, async () => {
      response.attachment(prepared.fileName).type('zip');
      if (request.method === 'HEAD') response.end();
      else await this.send(prepared.entries(), response);
    });
  }

  /** Nothing can be reported to the client any more: it sees that the transfer ended early. */
  private async send(entries: Parameters<typeof writeArchive>[0], response: Response): Promise<void> {
    response.flushHeaders();
    try {
      await writeArchive(entries, response);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return; // the client has left
      this.logger.error(
        { requestId: requestIdOf(response), reason: errorMessage(error) },
        'an export was aborted',
      );
    }
  }
}
