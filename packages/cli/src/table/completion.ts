import { usageError } from '../errors.js';
import type { CommandSpec, Completion, OptionSpec } from './command-spec.js';
import { optionsOf } from './parse.js';

/** Shells that have a completion script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Returns the completion script of a shell. @throws CliError if there is none for this shell */
export function completionScript(table: readonly CommandSpec[], shell: string): string {
  if (shell === 'bash') return bash(table);
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bash(table)}`;
  if (shell === 'fish') return fish(table);
  throw usageError(`There is no completion for ${shell}.`, `Shells: ${SHELLS.join(', ')}.`);
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const flagsOf = (specs: readonly OptionSpec[]): string =>
  specs.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]).join('\n');

/** Shell command that prints the names of the open attempts. A `-C` on the completed line has no effect on it. */
const ATTEMPTS = 'scratchfs attempts --names 2>/dev/null';

function bash(table: readonly CommandSpec[]): string {
  const groups = groupsOf(table);
  const lines = [
    '# Completion of scratchfs. Made from its table of commands.',
    '_scratchfs() {',
    `  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" word index`,
    '  COMPREPLY=()',
    // Names may contain spaces, so only a line feed separates words.
    String.raw`  local IFS=$'\n'`,
    '  for ((index = 1; index < COMP_CWORD; index++)); do',
    `    word="\${COMP_WORDS[index]}"`,
    '    case "$word" in',
    '      -C|--directory|--store|--attempt|-a|--at) ((index++)) ;;',
    '      -*) ;;',
    '      *)',
    '        case "$command" in',
    `          '') command="$word" ;;`,
    ...[...groups].map(([group]) => `          ${group}) command="$command $word" ;;`),
    '        esac ;;',
    '    esac',
    '  done',
    '  case "$command" in',
    `    '') COMPREPLY=($(compgen -W ${quoted(topWords(table).join('\n'))} -- "$current")) ;;`,
    ...[...groups].map(
      ([group, names]) => `    ${group}) COMPREPLY=($(compgen -W ${quoted(names.join('\n'))} -- "$current")) ;;`,
    ),
  ];
  for (const spec of table) {
    lines.push(`    ${quoted(spec.name)})`, '      case "$previous" in');
    for (const option of optionsOf(spec)) {
      if (option.value === undefined) continue;
      const names = option.short === undefined ? `--${option.name}` : `--${option.name}|-${option.short}`;
      lines.push(`        ${names}) ${bashWords(completionsOf([option]))} return ;;`);
    }
    lines.push('      esac', '      if [[ "$current" == -* ]]; then');
    lines.push(`        COMPREPLY=($(compgen -W ${quoted(flagsOf(optionsOf(spec)))} -- "$current"))`);
    lines.push(`      else ${bashWords(completionsOf(spec.arguments))} fi ;;`);
  }
  lines.push('  esac', '}', 'complete -o bashdefault -F _scratchfs scratchfs', '');
  return lines.join('\n');
}

/** Returns the completions of several arguments or options, each once. */
function completionsOf(specs: readonly { readonly complete?: Completion }[] = []): Completion[] {
  return [...new Set(specs.map(({ complete }) => complete))].filter((complete) => complete !== undefined);
}

/** Returns bash commands, each with a semicolon, that add the words of all completions to COMPREPLY. */
function bashWords(completions: readonly Completion[]): string {
  const isPath = (complete: Completion): boolean => complete === 'file' || complete === 'directory';
  const added = completions.map((complete) => `COMPREPLY+=($(compgen ${bashSource(complete)} -- "$current"));`);
  if (completions.some(isPath)) added.push('compopt -o filenames 2>/dev/null;');
  return added.length === 0 ? ':;' : added.join(' ');
}

function bashSource(complete: Completion): string {
  if (complete === 'file') return '-f';
  if (complete === 'directory') return '-d';
  return complete === 'attempt' ? `-W "$(${ATTEMPTS})"` : `-W ${quoted(complete.join('\n'))}`;
}

function fish(table: readonly CommandSpec[]): string {
  const groups = groupsOf(table);
  const lines = ['# Completion of scratchfs. Made from its table of commands.', 'complete -c scratchfs -f'];
  const none = `not __fish_seen_subcommand_from ${topWords(table).join(' ')}`;
  for (const word of topWords(table)) {
    const summary = table.find(({ name }) => name === word)?.summary ?? `Commands: ${groups.get(word)?.join(', ')}`;
    lines.push(`complete -c scratchfs -n ${quoted(none)} -a ${word} -d ${quoted(summary)}`);
  }
  for (const spec of table) {
    const [first = '', second] = spec.name.split(' ');
    const siblings = groups.get(first)?.join(' ') ?? '';
    if (second !== undefined) {
      const open = `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${siblings}`;
      lines.push(`complete -c scratchfs -n ${quoted(open)} -a ${second} -d ${quoted(spec.summary)}`);
    }
    const seen = [first, second]
      .filter((word) => word !== undefined)
      .map((word) => `__fish_seen_subcommand_from ${word}`);
    const condition = quoted(seen.join('; and '));
    for (const { name, short, value, help, complete } of optionsOf(spec)) {
      const letter = short === undefined ? '' : ` -s ${short}`;
      const isPath = complete === 'file' || complete === 'directory';
      const needs = value === undefined ? '' : ` ${isPath ? '-r' : '-x'}${fishWords(complete)}`;
      lines.push(`complete -c scratchfs -n ${condition} -l ${name}${letter}${needs} -d ${quoted(help)}`);
    }
    for (const complete of completionsOf(spec.arguments))
      lines.push(`complete -c scratchfs -n ${condition}${fishWords(complete)}`);
  }
  return `${lines.join('\n')}\n`;
}

function fishWords(complete: Completion | undefined): string {
  if (complete === undefined) return '';
  if (complete === 'file' || complete === 'directory') return ' -F';
  return ` -a ${quoted(complete === 'attempt' ? `(${ATTEMPTS})` : complete.join(' '))}`;
}

/** Returns the commands of each group: second words of names, such as `ls`, by the first, such as `fs`. */
function groupsOf(table: readonly CommandSpec[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { name } of table) {
    const [first = '', second] = name.split(' ');
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second]);
  }
  return groups;
}

function topWords(table: readonly CommandSpec[]): string[] {
  return [...new Set(table.map(({ name }) => name.split(' ')[0] ?? ''))];
}
