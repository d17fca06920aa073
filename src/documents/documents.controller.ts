import {
  Delete,
  Get,
  Headers,
  HttpCode,
  HttpStatus,
  Param,
  ParseIntPipe,
  Post,
  Put,
  Res,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { notModified } from '../common/api/conditional.js';
import { NotFound, PreconditionFailed } from '../common/api/domain-error.js';
import { JsonBody } from '../common/body/json-body.js';
import { Operation } from '../common/api/operation.js';
import { AdminOnly, OwnedController, Scope } from '../organizations/scope/owner-scope.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { entityTag } from './store/document-rows.js';
import type { DocumentWithContent } from './store/document-rows.js';
import { SlugTaken, TooManyDocuments } from './store/documents.errors.js';
import { DocumentsService } from './documents.service.js';
import { CreateDocumentDto, UpdateDocumentDto } from './store/dto/document.requests.js';
import { DocumentListResponse, DocumentResponse } from './store/dto/document.response.js';

const IF_MATCH = {
  'If-Match': {
    type: 'string',
    description:
      'Entity tag of the version to change. The request fails with 412 if the document has another one.',
  },
};

@ApiTags('Documents')
@OwnedController('projects/:projectId/documents')
export class DocumentsController {
  constructor(private readonly documents: DocumentsService) {}

  @Operation('listDocuments', 'List documents', {
    description: 'Without their contents.',
    response: DocumentListResponse,
    rejects: [NotFound],
  })
  @Get()
  async list(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) projectId: number,
  ): Promise<DocumentListResponse> {
    return { documents: await this.documents.list(scope, projectId) };
  }

  @Operation('createDocument', 'Create a document', {
    description: 'The slug must be unique in the project. The response has the ETag of the first version.',
    response: DocumentResponse,
    responseHeaders: ['ETag'],
    rejects: [NotFound, SlugTaken, TooManyDocuments],
  })
  @AdminOnly('create documents')
  @Post()
  async create(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) projectId: number,
    @JsonBody() body: CreateDocumentDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DocumentResponse> {
    return present(await this.documents.create(scope, projectId, body), response);
  }

  @Operation('getDocument', 'Get a document', {
    description: 'Returns the document with its content.',
    response: DocumentResponse,
    rejects: [NotFound],
  })
  @Get(':documentId')
  async get(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) projectId: number,
    @Param('documentId', ParseIntPipe) id: number,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DocumentResponse | undefined> {
    const row = await this.documents.get(scope, projectId, id);
    if (notModified(ifNoneMatch, entityTag(row))) {
      response.status(HttpStatus.NOT_MODIFIED).set('ETag', entityTag(row));
      return undefined;
    }
    return present(await this.documents.withContent(scope, row), response);
  }

  @Operation('updateDocument', 'Change a document', {
    description:
      'Members that are absent or null keep their value. `If-Match` with an ETag prevents lost updates.',
    response: DocumentResponse,
    responseHeaders: ['ETag'],
    rejects: [NotFound, SlugTaken, PreconditionFailed],
    headers: IF_MATCH,
  })
  @AdminOnly('update documents')
  @Put(':documentId')
  async update(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) projectId: number,
    @Param('documentId', ParseIntPipe) id: number,
    @Headers('if-match') ifMatch: string | undefined,
    @JsonBody() body: UpdateDocumentDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DocumentResponse> {
    return present(await this.documents.update(scope, { projectId, id, ifMatch }, body), response);
  }

  @Operation('deleteDocument', 'Delete a document', {
    description: 'Cannot be undone. `If-Match` with an ETag deletes that version only.',
    rejects: [NotFound, PreconditionFailed],
    headers: IF_MATCH,
  })
  @AdminOnly('delete documents')
  @HttpCode(HttpStatus.NO_CONTENT)
  @Delete(':documentId')
  async delete(
    @Scope() scope: OwnerScope,
    @Param('projectId', ParseIntPipe) projectId: number,
    @Param('documentId', ParseIntPipe) id: number,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.documents.delete(scope, { projectId, id, ifMatch });
  }
}

function present({ row, content }: DocumentWithContent, response: Response): DocumentResponse {
  response.set('ETag', entityTag(row));
  const { id, project_id, title, slug, created_at, updated_at } = row;
  return { id, project_id, title, slug, created_at, updated_at, content };
}
