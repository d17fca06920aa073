/** Starts the viewer. It sends requests to the origin of the page, not to the public URL in the document. */
export const DOCS_SCRIPT = `'use strict';
fetch('openapi.json')
  .then((response) => response.json())
  .then((spec) => {
    spec.servers = [{ url: new URL('..', window.location.href).href.replace(/\\/$/, '') }];
    SwaggerUIBundle({
      spec,
      dom_id: '#docs',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      validatorUrl: null,
      presets: [SwaggerUIBundle.presets.apis],
      layout: 'BaseLayout',
    });
  });
`;

/** Additions to Swagger UI's style sheet: line length, colours of mintkeep's other pages, layout on phones. */
export const DOCS_STYLE = `
:root { --accent: #17664b; --ground: #f3f4f1; --line: #d9ddd8; --ink: #1b1f1d; }
body { margin: 0; background: #fff; }
.swagger-ui .wrapper { max-width: 64rem; }
.swagger-ui .info { margin: 2.5rem 0 1.5rem; }
.swagger-ui .info .description { max-width: 48rem; }
.swagger-ui .info p, .swagger-ui .info li, .swagger-ui .info td { font-size: 15px; line-height: 1.55; }
.swagger-ui .info h2 { margin: 2.25rem 0 .75rem; font-size: 1.35rem; }
.swagger-ui .renderedMarkdown code { padding: 1px 5px; color: var(--ink); background: var(--ground); font-weight: 500; overflow-wrap: anywhere; }
.swagger-ui .renderedMarkdown pre { padding: .8rem; background: var(--ground); border: 1px solid var(--line); border-radius: 8px; }
.swagger-ui .renderedMarkdown pre code { padding: 0; background: none; white-space: pre-wrap; }
.swagger-ui .renderedMarkdown table { width: auto; }
.swagger-ui .renderedMarkdown table td { padding: .45rem 1.5rem .45rem 0; }
.swagger-ui .btn.authorize { color: var(--accent); border-color: var(--accent); }
.swagger-ui .btn.authorize svg { fill: var(--accent); }
.swagger-ui .scheme-container { padding: 0 0 1rem; box-shadow: none; border-bottom: 1px solid var(--line); }
.swagger-ui .scheme-container .schemes > .schemes-server-container { display: none; }
/* No response has OpenAPI links, so the column is empty. */
.swagger-ui .responses-table .response-col_links, .swagger-ui tr.response > td.response-col_links { display: none; }
.swagger-ui .response-col_description .renderedMarkdown ul { margin: 0; padding-left: 1.1rem; }
@media (max-width: 40rem) {
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .info .title { font-size: 28px; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 64px; padding: 6px 0; }
  .swagger-ui .opblock .opblock-summary-path { max-width: 100%; font-size: 14px; }
  .swagger-ui .opblock .opblock-summary-description { flex-basis: 100%; padding: 2px 10px; font-size: 13px; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; font-size: 20px; }
  .swagger-ui .opblock-tag small { flex-basis: 100%; padding: 0; }
  .swagger-ui .dialog-ux .modal-ux { min-width: 0; width: calc(100vw - 24px); }
  .swagger-ui .auth-container input { min-width: 0; width: 100%; }
  .swagger-ui .opblock-body { overflow-x: auto; }
  .swagger-ui .responses-inner, .swagger-ui .opblock .opblock-section-header { padding: 10px; }
  .swagger-ui .opblock-description-wrapper, .swagger-ui .table-container { padding: 10px; }
  .swagger-ui table.responses-table > thead, .swagger-ui table.parameters > thead { display: none; }
  .swagger-ui tr.response, .swagger-ui tr.response > td, .swagger-ui table.parameters tr, .swagger-ui table.parameters td { display: block; }
  .swagger-ui tr.response > td { padding: 4px 0; width: auto; max-width: 100%; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { max-width: 100%; }
}
`;
