import { All, Controller, Module, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Express, Request } from 'express';
import { Public } from './auth/public.decorator.js';
import { MethodNotAllowed, NotFound } from './common/domain-error.js';

/** What Express keeps for every route, as far as it is of use here. */
interface Layer {
  match(path: string): boolean;
  route?: { path: string; methods: Record<string, boolean> };
}

/** A wildcard that the paths here end in, and no other. */
const EVERYTHING = '*everything}';

/** Below `/me` a session is asked for before anything is told, also of routes that do not exist. */
@ApiExcludeController()
@Controller()
export class UnknownSessionRouteController {
  @All(`me{/${EVERYTHING}`)
  refuse(@Req() request: Request): never {
    throw refusal(request);
  }
}

@Public() // there is nothing here to protect
@ApiExcludeController()
@Controller()
export class UnknownRouteController {
  @All(`{${EVERYTHING}`)
  refuse(@Req() request: Request): never {
    throw refusal(request);
  }
}

function refusal(request: Request): MethodNotAllowed | NotFound {
  const methods = methodsOf(request.app as Express, request.path);
  return methods.length > 0 ? new MethodNotAllowed(methods) : new NotFound();
}

/** The methods that the path has; the controllers here do not count. */
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

/** To be imported last: what no other module answers. */
@Module({ controllers: [UnknownSessionRouteController, UnknownRouteController] })
export class UnknownRouteModule {}
