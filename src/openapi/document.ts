import type { Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import { VERSION } from '../common/process/version.js';
import type { Settings } from '../config/settings.js';
import { servesMetrics } from '../health/health.module.js';
import { securitySchemes, TAGS } from './document-metadata.js';
import { HEADERS } from './headers.js';
import { createIntroduction } from './introduction.js';
import { convertExamples, schemaName } from './json-schema.js';
import type { Json } from './json-schema.js';
import { nameNullableObjects } from './nullable-objects.js';
import { metricsPath } from './metrics-operation.js';
import { PROXY_SCHEMAS, proxyPaths } from './proxy-operations.js';
import { describeParameters, describeRequestBody } from './requests.js';
import { describeResponses } from './responses.js';
import { documentPath, operationId, readRoute } from './route.js';
import type { Route } from './route.js';

/** Separates controller and handler in the operation ids of the intermediate document that Nest creates. */
const SEPARATOR = '#';

const LICENSE = { name: 'Apache 2.0', identifier: 'Apache-2.0' };

/** Creates the OpenAPI 3.1 document of the running service from the decorators of its routes. */
export function createDocument(app: NestExpressApplication, settings: Settings): OpenAPIObject {
  const base = new DocumentBuilder().setOpenAPIVersion('3.1.0').setTitle('mintkeep').setVersion(VERSION);
  const found = SwaggerModule.createDocument(app, base.build(), {
    operationIdFactory: (controller, method) => `${controller}${SEPARATOR}${method.replace(/\[\d+\]$/, '')}`,
  });
  const schemas = nameNullableObjects({ ...renameSchemas(found), ...PROXY_SCHEMAS });
  const paths = {
    ...describePaths(app, found, schemas),
    ...proxyPaths(),
    ...(servesMetrics(settings) ? metricsPath(settings) : {}),
  };
  return {
    openapi: found.openapi,
    info: { ...found.info, description: createIntroduction(settings), license: LICENSE },
    servers: [{ url: settings.publicUrl }],
    tags: findUsedTags(paths),
    security: [{ session: [] }],
    paths,
    components: {
      securitySchemes: securitySchemes(settings.session.cookieName),
      schemas,
      headers: HEADERS,
    },
  } as unknown as OpenAPIObject;
}

/** Schemas of Nest's document, under the names of this one. */
function renameSchemas({ components }: OpenAPIObject): Json {
  const json = JSON.stringify(convertExamples(components?.schemas ?? {}));
  const renamed = json.replace(
    /#\/components\/schemas\/(\w+)/g,
    (_, name: string) => `#/components/schemas/${schemaName(name)}`,
  );
  const schemas: Json = {};
  for (const [className, schema] of Object.entries(JSON.parse(renamed) as Json)) {
    const name = schemaName(className);
    if (name in schemas) throw new Error(`two classes have the name ${name} in the OpenAPI document`);
    schemas[name] = schema;
  }
  return schemas;
}

/** Tags that at least one operation has. Some routes exist only under certain settings. */
function findUsedTags(paths: Record<string, Json>): object[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods) as FoundOperation[]);
  const used = new Set(operations.flatMap(({ tags }) => tags));
  return TAGS.filter(({ name }) => used.has(name));
}

/** Describes all routes with an `@Operation`. A test fails for a route without one. */
function describePaths(
  app: NestExpressApplication,
  found: OpenAPIObject,
  schemas: Json,
): Record<string, Json> {
  const controllers = findControllers(app);
  const paths: Record<string, Json> = {};
  for (const [path, operations] of Object.entries(found.paths)) {
    for (const [method, { operationId, tags }] of Object.entries(
      operations as Record<string, FoundOperation>,
    )) {
      const [name = '', handler = ''] = operationId.split(SEPARATOR);
      const route = readRoute(method, path, controllers.get(name)!, handler);
      if (route) (paths[documentPath(path)] ??= {})[method] = { tags, ...describe(route, schemas) };
    }
  }
  return paths;
}

function describe(route: Route, schemas: Json): Json {
  const { summary, description } = route.operation;
  return {
    operationId: operationId(route),
    summary,
    description,
    ...(route.isPublic ? { security: cookieSecurity(route) } : {}),
    parameters: describeParameters(route),
    requestBody: describeRequestBody(route, schemas),
    responses: describeResponses(route, schemas),
  };
}

/** The pages of the device flow need the cookie, except to be shown. */
function cookieSecurity({ path, method, operation }: Route): object[] {
  if (operation.response !== 'page' || !path.startsWith('/auth/')) return [];
  return method === 'get' ? [{ sessionCookie: [] }, {}] : [{ sessionCookie: [] }];
}

function findControllers(app: NestExpressApplication): Map<string, Type> {
  const modules = [...app.get(ModulesContainer).values()];
  const wrappers = modules.flatMap((module) => [...module.controllers.values()]);
  return new Map(wrappers.map(({ name, metatype }) => [String(name), metatype as Type]));
}

interface FoundOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
}
