import { All, Controller, Module, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Express, Request } from 'express';
import { Public } from './auth/public.decorator.js';
import { MethodNotAllowed, NotFound } from './common/api/domain-error.js';

/** Members of a layer of Express' router that this module uses. */
interface Layer {
  match(path: string): boolean;
  route?: { path: string; methods: Record<string, boolean> };
}

/** Wildcard at the end of the paths of this module, and of no other path. */
const EVERYTHING = '*everything}';

/** Rejects unknown routes below `/me`. They require a session, too, so that nothing is revealed without one. */
@ApiExcludeController()
@Controller()
class UnknownSessionRouteController {
  @All(`me{/${EVERYTHING}`)
  reject(@Req() request: Request): never {
    throw toError(request);
  }
}

@Public() // there is nothing here to protect
@ApiExcludeController()
@Controller()
class UnknownRouteController {
  @All(`{${EVERYTHING}`)
  reject(@Req() request: Request): never {
    throw toError(request);
  }
}

function toError(request: Request): MethodNotAllowed | NotFound {
  const methods = methodsOf(request.app as Express, request.path);
  return methods.length > 0 ? new MethodNotAllowed(methods) : new NotFound();
}

/** Finds the methods of a path. The controllers of this module do not count. */
function methodsOf(application: Express, path: string): string[] {
  const methods = new Set<string>();
  for (const layer of layersOf(application)) {
    if (!layer.route || layer.route.path.endsWith(EVERYTHING) || !layer.match(path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

function layersOf(application: Express): Layer[] {
  return (application.router as unknown as { stack: Layer[] }).stack;
}

/** Handles requests that match no other route. Must be the last import. */
@Module({ controllers: [UnknownSessionRouteController, UnknownRouteController] })
export class UnknownRouteModule {}
