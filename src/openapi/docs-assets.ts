/** Starts the viewer. Requests go to where the page came from, whatever public address the document names. */
export const DOCS_SCRIPT = `'use strict';
fetch('/openapi.json')
  .then((response) => response.json())
  .then((spec) => {
    spec.servers = [{ url: window.location.origin }];
    SwaggerUIBundle({
      spec,
      dom_id: '#docs',
      deepLinking: true,
      docExpansion: 'none',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: false,
      validatorUrl: null,
      presets: [SwaggerUIBundle.presets.apis],
      layout: 'BaseLayout',
    });
  });
`;

/** What differs from Swagger UI's own sheet: room on phones. */
export const DOCS_STYLE = `
body { margin: 0; background: #fff; }
`;
