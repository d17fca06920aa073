import type { Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Settings } from '../config/settings.js';
import { securitySchemes, TAGS } from './document-head.js';
import { HEADERS } from './headers.js';
import { introduction } from './introduction.js';
import { withExamples } from './json-schema.js';
import type { Json } from './json-schema.js';
import { metricsPath } from './metrics-operation.js';
import { PROXY_SCHEMAS, proxyPaths } from './proxy-operations.js';
import { parametersOf, requestBodyOf } from './requests.js';
import { responsesOf } from './responses.js';
import { documentPath, operationId, routeOf } from './route.js';
import type { Route } from './route.js';
import { schemaName } from './schema-names.js';

/** Between the name of a controller and that of a handler, while Nest's document is made into ours. */
const OF = '#';

/** The OpenAPI 3.1 document of the running service: what routes take, answer and refuse is read from their code. */
export function createDocument(app: NestExpressApplication, settings: Settings): OpenAPIObject {
  const head = new DocumentBuilder().setOpenAPIVersion('3.1.0').setTitle('mintkeep').setVersion('1');
  const found = SwaggerModule.createDocument(app, head.build(), {
    operationIdFactory: (controller, method) => `${controller}${OF}${method.replace(/\[\d+\]$/, '')}`,
  });
  const schemas = { ...schemasOf(found), ...PROXY_SCHEMAS };
  const paths = { ...pathsOf(app, found, schemas), ...proxyPaths(), ...metricsPath() };
  return {
    openapi: found.openapi,
    info: { ...found.info, description: introduction(settings), license: LICENSE },
    servers: [{ url: settings.publicUrl }],
    tags: tagsOf(paths),
    security: [{ session: [] }],
    paths,
    components: {
      ...{ securitySchemes: securitySchemes(settings.session.cookieName), schemas },
      headers: HEADERS,
    },
  } as unknown as OpenAPIObject;
}

const LICENSE = { name: 'Apache 2.0', identifier: 'Apache-2.0' };

/** Under the names that the document has for them. */
function schemasOf({ components }: OpenAPIObject): Json {
  const json = JSON.stringify(withExamples(components?.schemas ?? {}));
  const renamed = json.replace(
    /#\/components\/schemas\/(\w+)/g,
    (_, name: string) => `#/components/schemas/${schemaName(name)}`,
  );
  const schemas: Json = {};
  for (const [className, schema] of Object.entries(JSON.parse(renamed) as Json)) {
    const name = schemaName(className);
    if (name in schemas) throw new Error(`two classes would be ${name} in the OpenAPI document`);
    schemas[name] = schema;
  }
  return schemas;
}

/** Those that operations have: not all settings make for all routes. */
function tagsOf(paths: Record<string, Json>): object[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods) as FoundOperation[]);
  const used = new Set(operations.flatMap(({ tags }) => tags));
  return TAGS.filter(({ name }) => used.has(name));
}

/** A route without a description is left out, which the tests do not let pass. */
function pathsOf(app: NestExpressApplication, found: OpenAPIObject, schemas: Json): Record<string, Json> {
  const controllers = controllersOf(app);
  const paths: Record<string, Json> = {};
  for (const [path, operations] of Object.entries(found.paths)) {
    for (const [method, { operationId, tags }] of Object.entries(
      operations as Record<string, FoundOperation>,
    )) {
      const [name = '', handler = ''] = operationId.split(OF);
      const route = routeOf(method, path, controllers.get(name)!, handler);
      if (route) (paths[documentPath(path)] ??= {})[method] = { tags, ...describe(route, schemas) };
    }
  }
  return paths;
}

interface FoundOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
}

function describe(route: Route, schemas: Json): Json {
  const { summary, description, answers } = route.operation;
  const isSignedIn = answers === 'page' && route.path.startsWith('/auth/');
  return {
    operationId: operationId(route),
    ...{ summary, description },
    ...(route.isPublic ? { security: isSignedIn ? [{ sessionCookie: [] }] : [] } : {}),
    parameters: parametersOf(route),
    requestBody: requestBodyOf(route, schemas),
    responses: responsesOf(route, schemas),
  };
}

function controllersOf(app: NestExpressApplication): Map<string, Type> {
  const modules = [...app.get(ModulesContainer).values()];
  const wrappers = modules.flatMap((module) => [...module.controllers.values()]);
  return new Map(wrappers.map(({ name, metatype }) => [String(name), metatype as Type]));
}
