import { readFileSync } from 'node:fs';

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of the stages, one list each; comments left out, continued lines joined. */
function stagesOf(path: string): Instruction[][] {
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

const stages = stagesOf('Dockerfile');
const image = stages.at(-1)!;
const textsOf = (stage: Instruction[], name: string) =>
  stage.filter((instruction) => instruction.name === name).map(({ text }) => text);

it('every stage is on the same exact version of Node 24', () => {
  const bases = stages.map(([from]) => from!.text.split(' ')[0]!);
  expect(new Set(bases).size).toBe(1);
  expect(bases[0]).toMatch(/^node:24\.\d+\.\d+-\w+-slim$/);
});

it('is built by any builder: a frontend that it names would have to be fetched first', () => {
  expect(readFileSync('Dockerfile', 'utf8')).not.toMatch(/^#\s*syntax\s*=/m);
});

it('the image has neither development nor embedded-database packages', () => {
  const copied = textsOf(image, 'COPY');
  expect(copied).toEqual([
    '--from=dependencies /app/node_modules node_modules',
    '--from=build /app/dist dist',
    'package.json ./',
  ]);
  const dependencies = stages.find(([from]) => from!.text.endsWith(' AS dependencies'))!;
  expect(textsOf(dependencies, 'RUN')).toEqual(['npm ci --omit=dev --omit=optional --ignore-scripts']);
});

it('the program is not root, and hears signals itself', () => {
  // By number: of a name, Kubernetes' `runAsNonRoot` cannot know that it is not root's.
  expect(textsOf(image, 'USER')).toEqual(['1000:1000']);
  expect(textsOf(image, 'RUN')).toEqual(['install -d -o 1000 -g 1000 /data']);
  const [command] = textsOf(image, 'CMD');
  expect(JSON.parse(command!)).toEqual(['node', 'dist/main.js']);
  expect(textsOf(image, 'ENTRYPOINT')).toEqual([]);
  expect(textsOf(image, 'ENV').join(' ')).toContain('NODE_ENV=production');
});

it('nothing but what is needed to build reaches the builder', () => {
  const lines = readFileSync('.dockerignore', 'utf8').trimEnd().split('\n');
  expect(lines[0]).toBe('*');
  const admitted = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const copied = stages
    .flatMap((stage) => textsOf(stage, 'COPY'))
    .filter((text) => !text.startsWith('--from'));
  const needed = copied.flatMap((text) => text.split(' ').slice(0, -1));
  expect(admitted.sort()).toEqual([...new Set(needed)].sort());
});

it('is healthy when it is ready, asked without anything that the image does not have', () => {
  const [check] = textsOf(image, 'HEALTHCHECK');
  const command = JSON.parse(check!.slice(check!.indexOf('['))) as string[];
  expect(command.slice(0, 2)).toEqual(['node', '-e']);
  expect(command[2]).toContain('/readyz');
});
