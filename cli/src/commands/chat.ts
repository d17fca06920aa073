import { requireLogin } from '../credentials/selection.js';
import type { SelectionOptions } from '../credentials/selection.js';
import { CliError, UsageError } from '../errors.js';
import { onInterruption } from '../interruption.js';
import { chat as streamChat } from '../network/chat.js';
import type { ChatUsage } from '../network/chat.js';
import { listModels } from '../network/models.js';
import type { Access } from '../network/service.js';
import { printableText } from '../terminal/printable.js';
import { isTerminal, printJson } from '../terminal/terminal.js';
import { dollars } from './limits.js';

interface ChatOptions extends SelectionOptions {
  readonly model?: string;
  readonly system?: string;
  readonly stats?: boolean;
  readonly json?: boolean;
}

/** Figures of a finished response. */
interface Figures {
  usage?: ChatUsage;
  /** Milliseconds until the first text; undefined without any text. */
  firstTextMs?: number;
  totalMs: number;
}

/** Sends a prompt and streams the response. */
export async function chat(prompt: string | undefined, options: ChatOptions): Promise<void> {
  const content = await readPrompt(prompt);
  const login = await requireLogin(options);
  const model = options.model ?? (await firstModel(login));
  const system = options.system === undefined ? [] : [{ role: 'system', content: options.system } as const];
  const start = performance.now();
  const figures: Figures = { totalMs: 0 };
  const output = new Output(options.json !== true);
  const withdraw = onInterruption(() => output.end());
  try {
    for await (const part of streamChat(login, model, [...system, { role: 'user', content }])) {
      if (part.usage) figures.usage = part.usage;
      if (part.text === undefined) continue;
      figures.firstTextMs ??= performance.now() - start;
      output.write(part.text);
    }
  } finally {
    withdraw();
    output.end();
  }
  figures.totalMs = performance.now() - start;
  if (options.json) printJson({ model, text: output.text, usage: figures.usage ?? null });
  if (options.stats) process.stderr.write(`${describeFigures(figures)}\n`);
}

/** Joins the argument and standard input. @throws UsageError without any text */
async function readPrompt(prompt = ''): Promise<string> {
  const parts = [prompt, isTerminal(process.stdin) ? '' : await readStandardInput()];
  const given = parts.filter((part) => part.trim() !== '');
  if (given.length > 0) return given.join('\n\n');
  throw new UsageError('there is no prompt', 'pass it as an argument or by standard input');
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function firstModel(access: Access): Promise<string> {
  const [first] = (await listModels(access)).data;
  if (first) return first.id;
  throw new CliError('the service lists no models', 'name one with -m, or add an upstream');
}

/** Text of the response, shown as it arrives unless it is for `--json`. */
class Output {
  text = '';
  private isEnded = false;

  constructor(private readonly isShown: boolean) {}

  write(text: string): void {
    this.text += text;
    if (this.isShown) process.stdout.write(isTerminal(process.stdout) ? printableText(text) : text);
  }

  /** Ends the last line. */
  end(): void {
    const isOpen = this.isShown && !this.isEnded && this.text !== '' && !this.text.endsWith('\n');
    this.isEnded = true;
    if (isOpen) process.stdout.write('\n');
  }
}

function describeFigures({ usage, firstTextMs, totalMs }: Figures): string {
  const count = (value: number | undefined) => value ?? 'unknown';
  const tokens = `tokens: ${count(usage?.prompt_tokens)} in, ${count(usage?.completion_tokens)} out`;
  const first = firstTextMs === undefined ? '' : `${seconds(firstTextMs)} to the first text, `;
  const cost = usage?.cost === undefined ? '' : `; cost: ${dollars(usage.cost)}`;
  return `${tokens}; time: ${first}${seconds(totalMs)} in total${cost}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
