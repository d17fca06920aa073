import { readFileSync } from 'node:fs';

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Parses a Dockerfile into the instructions of each stage, without comments and with joined lines. */
function parseStages(path: string): Instruction[][] {
  const text = readFileSync(path, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '');
  const instructions = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(' ')[0]!, text: line.slice(line.indexOf(' ') + 1) }));
  const stages: Instruction[][] = [];
  for (const instruction of instructions) {
    if (instruction.name === 'FROM') stages.push([]);
    stages.at(-1)!.push(instruction);
  }
  return stages;
}

const stages = parseStages('Dockerfile');
const image = stages.at(-1)!;
const textsOf = (stage: Instruction[], name: string) =>
  stage.filter((instruction) => instruction.name === name).map(({ text }) => text);

it('uses the same exact version of Node 24 in every stage', () => {
  const bases = stages.map(([from]) => from!.text.split(' ')[0]!);
  expect(new Set(bases).size).toBe(1);
  expect(bases[0]).toMatch(/^node:24\.\d+\.\d+-\w+-slim$/);
});

it('names no frontend, which a builder would have to download first', () => {
  expect(readFileSync('Dockerfile', 'utf8')).not.toMatch(/^#\s*syntax\s*=/m);
});

it('installs neither development packages nor the embedded PostgreSQL', () => {
  const copied = textsOf(image, 'COPY');
  expect(copied).toEqual([
    '--from=dependencies /app/node_modules node_modules',
    '--from=build /app/dist dist',
    '--from=build /app/dashboard/dist dashboard/dist',
    'package.json ./',
  ]);
  const dependencies = stages.find(([from]) => from!.text.endsWith(' AS dependencies'))!;
  expect(textsOf(dependencies, 'RUN')).toEqual([
    'npm ci --omit=dev --omit=optional --ignore-scripts --workspaces=false',
  ]);
});

it('runs the program as the first process, and not as root', () => {
  // A number, because `runAsNonRoot` of Kubernetes rejects names.
  expect(textsOf(image, 'USER')).toEqual(['1000:1000']);
  expect(textsOf(image, 'RUN')).toEqual(['install -d -o 1000 -g 1000 /data']);
  const [command] = textsOf(image, 'CMD');
  expect(JSON.parse(command!)).toEqual(['node', 'dist/main.js']);
  expect(textsOf(image, 'ENTRYPOINT')).toEqual([]);
  expect(textsOf(image, 'ENV').join(' ')).toContain('NODE_ENV=production');
});

it('sends only the files of the build to the builder', () => {
  const lines = readFileSync('.dockerignore', 'utf8').trimEnd().split('\n');
  expect(lines[0]).toBe('*');
  const allowed = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const copied = stages
    .flatMap((stage) => textsOf(stage, 'COPY'))
    .filter((text) => !text.startsWith('--from'));
  const needed = copied.flatMap((text) => text.split(' ').slice(0, -1));
  expect(allowed.sort()).toEqual([...new Set(needed)].sort());
});

it('checks its health at /readyz with programs of the image', () => {
  const [check] = textsOf(image, 'HEALTHCHECK');
  const command = JSON.parse(check!.slice(check!.indexOf('['))) as string[];
  expect(command.slice(0, 2)).toEqual(['node', '-e']);
  expect(command[2]).toContain('/readyz');
});
