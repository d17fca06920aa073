import type { Command, Option } from 'commander';
import { quoteForFish } from './quote.js';

/** Shells with completion. */
export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const;
export type CompletionShell = (typeof COMPLETION_SHELLS)[number];

/** Command as completions show it. */
interface Entry {
  readonly name: string;
  readonly description: string;
  readonly options: readonly { readonly flags: readonly string[]; readonly description: string }[];
  /** Words that may follow: those of an argument, and those of the last option. */
  readonly words: readonly string[];
  readonly choices: Readonly<Record<string, readonly string[]>>;
}

/** Creates a completion script from the definition of the command line. */
export function completionScript(program: Command, shell: CompletionShell): string {
  const entries = program.commands.map(toEntry);
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](entries);
}

function toEntry(command: Command): Entry {
  const options = command.createHelp().visibleOptions(command);
  const choices = options.flatMap((option) =>
    flagsOf(option).map((flag) => [flag, option.argChoices ?? []] as const),
  );
  return {
    name: command.name(),
    description: command.summary() || command.description(),
    options: options.map((option) => ({ flags: flagsOf(option), description: option.description })),
    words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    choices: Object.fromEntries(choices.filter(([, values]) => values.length > 0)),
  };
}

function flagsOf({ short, long }: Option): string[] {
  return [short, long].filter((flag) => flag !== undefined);
}

const names = (entries: readonly Entry[]): string => entries.map(({ name }) => name).join(' ');
const flags = ({ options }: Entry): string[] => options.flatMap((option) => option.flags);

function bashScript(entries: readonly Entry[]): string {
  const values = (entry: Entry) =>
    Object.entries(entry.choices).map(
      ([flag, words]) => `      ${entry.name}:${flag}) words='${words.join(' ')}' ;;`,
    );
  const cases = entries.map(
    (entry) => `      ${entry.name}:*) words='${[...flags(entry), ...entry.words].join(' ')}' ;;`,
  );
  return `# bash completion of mintkeep
_mintkeep() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${names(entries)} --help --version'
  elif [ "$command" = run ] && [[ $current != -* ]]; then
    COMPREPLY=($(compgen -A command -A file -- "$current"))
    return
  else
    case $command:$previous in
${[...entries.flatMap(values), ...cases].join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _mintkeep mintkeep`;
}

/** Text between single quotes, which zsh's lists of descriptions read up to the first colon. */
const zshText = (text: string): string => text.replaceAll("'", `'\\''`);

function zshScript(entries: readonly Entry[]): string {
  const list = entries.map(({ name, description }) => `    '${name}:${zshText(description)}'`);
  const cases = entries.map((entry) => {
    const choices = Object.values(entry.choices).flat();
    return `    ${entry.name}) compadd -- ${[...flags(entry), ...entry.words, ...choices].join(' ')} ;;`;
  });
  return `#compdef mintkeep
_mintkeep() {
  local -a commands
  commands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  if [[ $words[2] == run && $words[CURRENT] != -* ]]; then
    shift words; (( CURRENT-- )); _normal
    return
  fi
  case $words[2] in
${cases.join('\n')}
  esac
}
compdef _mintkeep mintkeep`;
}

function fishScript(entries: readonly Entry[]): string {
  const lines = entries.flatMap((entry) => {
    const after = `complete -c mintkeep -n '__fish_seen_subcommand_from ${entry.name}'`;
    const options = entry.options.map((option) => {
      const each = option.flags.map(
        (flag) => `${flag.startsWith('--') ? '-l' : '-s'} ${flag.replace(/^-+/, '')}`,
      );
      const values = option.flags.flatMap((flag) => entry.choices[flag] ?? []);
      const unique = [...new Set(values)];
      const argument = unique.length > 0 ? ` -x -a '${unique.join(' ')}'` : '';
      return `${after} ${each.join(' ')}${argument} -d ${quoteForFish(option.description)}`;
    });
    const words = entry.words.length > 0 ? [`${after} -f -a '${entry.words.join(' ')}'`] : [];
    return [
      `complete -c mintkeep -n __fish_use_subcommand -f -a ${entry.name} -d ${quoteForFish(entry.description)}`,
      ...options,
      ...words,
    ];
  });
  return ['# fish completion of mintkeep', 'complete -c mintkeep -f', ...lines].join('\n');
}
