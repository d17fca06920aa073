import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { Settings } from './config/settings.js';

/** The integrators' page at `/docs` and its OpenAPI document at `/openapi.json`. */
export function serveApiPages(app: NestExpressApplication, { publicUrl }: Settings): void {
  const description = new DocumentBuilder()
    .setTitle('mintkeep')
    .setDescription('Documents, organizations, proxy keys and the proxy they open.')
    .addServer(publicUrl)
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'session')
    .addSecurityRequirements('session')
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'mintkeep API',
  });
}
