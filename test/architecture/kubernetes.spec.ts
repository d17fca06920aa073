import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { parseSettings } from '../../src/config/parse-settings.js';

type Json = Record<string, unknown>;

interface Manifest extends Json {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Folder of `kubernetes-types` for each group. */
const GROUPS: Readonly<Record<string, string>> = {
  '': 'core',
  apps: 'apps',
  batch: 'batch',
  policy: 'policy',
  'networking.k8s.io': 'networking',
};

const manifests = readManifests();
const find = <T>(kind: string, name = 'mintkeep') =>
  manifests.find(({ kind: other, metadata }) => other === kind && metadata.name === name) as T;

function readManifests(): Manifest[] {
  const blocks = readFileSync('docs/kubernetes.md', 'utf8').matchAll(/```yaml\n([^]*?)```/g);
  return [...blocks].flatMap(([, text]) =>
    parseAllDocuments(text!).map((document) => {
      if (document.errors.length > 0) throw document.errors[0]!;
      return document.toJS() as Manifest;
    }),
  );
}

/** Source text that declares a manifest with its type. */
function declare({ apiVersion, kind, ...rest }: Manifest, index: number): string {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const path = `kubernetes-types/${GROUPS[group]}/${version}`;
  const value = JSON.stringify({ apiVersion, kind, ...rest });
  return `import type { ${kind} as T${index} } from '${path}';\nexport const m${index}: T${index} = ${value};\n`;
}

/** Reports of the type checker about a source text. */
function typeErrors(text: string): string[] {
  const file = resolve('test/manifests.ts');
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists.call(host, name);
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, text, ts.ScriptTarget.ESNext)
      : getSourceFile.call(host, name, ...rest);
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('the manifests for Kubernetes', () => {
  it('match the types of Kubernetes', () => {
    expect(manifests.map(({ kind }) => kind)).toEqual([
      ...['ConfigMap', 'Secret', 'Job', 'StatefulSet', 'Service', 'Service'],
      ...['PodDisruptionBudget', 'NetworkPolicy', 'Ingress'],
    ]);
    expect(typeErrors(manifests.map(declare).join(''))).toEqual([]);
  });

  it('are checked for unknown members and wrong types', () => {
    const wrong = { ...find<Manifest>('StatefulSet'), spec: { replicas: '2', unknown: true } };
    expect(typeErrors(declare(wrong, 0))).not.toEqual([]);
  });

  it('have settings that are valid in production', () => {
    const { data } = find<{ data: Record<string, string> }>('ConfigMap');
    const { stringData } = find<{ stringData: Record<string, string> }>('Secret');
    const dataDir = mkdtempSync(join(tmpdir(), 'mintkeep-kubernetes-'));
    const keys = Buffer.alloc(32, 7).toString('base64');
    const production = { NODE_ENV: 'production', DATA_DIR: dataDir };
    const settings = parseSettings({ ...production, ...data, ...stringData, ENCRYPTION_KEYS: keys });
    expect(settings).toMatchObject({ production: true, shutdownDelayMs: 5_000 });
    rmSync(dataDir, { recursive: true });
  });

  it('agree with each other, with the image and with the routes', () => {
    const { spec } = find<{ spec: StatefulSetSpec }>('StatefulSet');
    const { spec: pod, metadata } = spec.template;
    const [container] = pod.containers;
    const labels = { 'app.kubernetes.io/name': 'mintkeep' };
    expect([spec.selector.matchLabels, metadata.labels]).toEqual([labels, labels]);
    for (const name of ['mintkeep', 'mintkeep-replicas'])
      expect(find<{ spec: Json }>('Service', name).spec.selector).toEqual(labels);
    expect(find<Manifest>('Service', spec.serviceName)).toBeDefined();
    const dockerfile = readFileSync('Dockerfile', 'utf8');
    expect(dockerfile).toContain(`EXPOSE ${container!.ports[0]!.containerPort}\n`);
    expect(dockerfile).toContain(`DATA_DIR=${container!.volumeMounts[0]!.mountPath} `);
    expect(dockerfile).toContain(`USER ${pod.securityContext.runAsUser}:${pod.securityContext.fsGroup}\n`);
    const job = find<{ spec: PodTemplate }>('Job', 'mintkeep-migrate').spec.template.spec.containers[0]!;
    expect(job.volumeMounts[0]!.mountPath).toBe(container!.volumeMounts[0]!.mountPath);
    expect(job.image).toBe(container!.image);
    const probes = [container!.startupProbe, container!.readinessProbe, container!.livenessProbe];
    expect(probes.map(({ httpGet }) => httpGet.path)).toEqual(['/readyz', '/readyz?for=proxy', '/healthz']);
    // The delay, 30 s for open responses and 15 s for the rest: see `src/main.ts`.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(5 + 30 + 15);
  });
});

interface Probe {
  readonly httpGet: { readonly path: string };
}

interface Container {
  readonly image: string;
  readonly ports: readonly { readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

interface PodTemplate {
  readonly template: {
    readonly metadata: { readonly labels: Json };
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly securityContext: { readonly runAsUser: number; readonly fsGroup: number };
      readonly containers: readonly Container[];
    };
  };
}

interface StatefulSetSpec extends PodTemplate {
  readonly serviceName: string;
  readonly selector: { readonly matchLabels: Json };
}
