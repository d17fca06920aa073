/* Calls a service with the generated client for TypeScript. Prints a line for each call. */
import { Configuration, DocumentsApi, KeysApi, LimitsApi, ProjectsApi, UsageApi } from './client/index.js';

const { MINTKEEP_URL: basePath, SESSION: accessToken } = process.env;
const configuration = new Configuration({ basePath, accessToken });
const projects = new ProjectsApi(configuration);
const documents = new DocumentsApi(configuration);
const keys = new KeysApi(configuration);

const { id } = await projects.createProject({ createProject: { name: 'From TypeScript' } });
console.log('createProject');
await projects.listProjects();
console.log('listProjects');
const content = { title: 'Title', slug: 'title', content: '# Hello' };
const document = await documents.createDocument({ id, createDocument: content });
console.log('createDocument');
const found = await documents.getDocument({ id, documentId: document.id });
if (found.content !== '# Hello') throw new Error('the document has another content');
console.log('getDocument');
await documents.listDocuments({ id });
console.log('listDocuments');
const key = await keys.mintKey();
console.log('mintKey');
await keys.listKeys();
console.log('listKeys');
await keys.revokeKey({ keyId: key.id });
console.log('revokeKey');
await new UsageApi(configuration).summarizeUsage();
console.log('summarizeUsage');
await new LimitsApi(configuration).getLimits();
console.log('getLimits');
