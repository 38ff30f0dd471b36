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

/** Maximum number of operations that a shell offers. It offers the newest ones. */
const MAX_OPERATIONS = 20;
/**
 * Commands that print the possible values, by kind of value. The script adds `-C` and `--store` of the line that is being
 * completed, and for operations its `--attempt`.
 */
const PRINTED = {
  attempt: 'attempts --names',
  operation: `log --numbers --limit ${MAX_OPERATIONS}`,
} as const;

function bash(table: readonly CommandSpec[]): string {
  const groups = groupsOf(table);
  const lines = [
    '# Completion of scratchfs. Made from its table of commands.',
    // Offers the lines that a command prints. Not `compgen -W`, which would run a `$(…)` in them.
    '_scratchfs_offer() {',
    '  while IFS= read -r value; do',
    '    if [[ "$value" == "$current"* ]]; then COMPREPLY+=("$value"); fi',
    `  done < <(scratchfs "$@" \${given[@]+"\${given[@]}"} 2>/dev/null)`,
    '}',
    '_scratchfs() {',
    `  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" word index value`,
    '  local -a words=() given=() named=()',
    '  COMPREPLY=()',
    // Names may contain spaces, so only a line feed separates words.
    String.raw`  local IFS=$'\n'`,
    // bash splits words at = and :, as in --store=redis://host.
    '  for ((index = 0; index < COMP_CWORD; index++)); do',
    `    word="\${COMP_WORDS[index]}"`,
    `    if ((index > 0)) && [[ "$word" == [:=]* || "\${words[\${#words[@]}-1]}" == *[:=] ]]; then`,
    `      words[\${#words[@]}-1]+="$word"`,
    '    else words+=("$word"); fi',
    '  done',
    `  for ((index = 1; index < \${#words[@]}; index++)); do`,
    `    word="\${words[index]}" value="\${words[index+1]-}"`,
    '    case "$word" in',
    `      --*=*) value="\${word#*=}" word="\${word%%=*}" ;;`,
    `      -[Ca]?*) value="\${word:2}" word="\${word:0:2}" ;;`,
    '      -C|--directory|--store|--attempt|-a|--at) ((index++)) ;;',
    '    esac',
    // In words of the completed line, only `~/` is expanded, and quotes and backslashes are removed.
    `    value="\${value//[\\"\\'\\\\]/}"`,
    `    [[ "$value" == "~/"* ]] && value="$HOME/\${value:2}"`,
    '    case "$word" in',
    '      -C|--directory|--store) given+=("$word" "$value") ;;',
    '      --attempt|-a) named=("$word" "$value") ;;',
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
  const added = completions.map(bashOffer);
  if (completions.some(isPath)) added.push('compopt -o filenames 2>/dev/null;');
  return added.length === 0 ? ':;' : added.join(' ');
}

function bashOffer(complete: Completion): string {
  if (complete === 'attempt') return `_scratchfs_offer ${PRINTED.attempt};`;
  if (complete === 'operation') return `_scratchfs_offer ${PRINTED.operation} \${named[@]+"\${named[@]}"};`;
  const source = complete === 'file' ? '-f' : complete === 'directory' ? '-d' : `-W ${quoted(complete.join('\n'))}`;
  return `COMPREPLY+=($(compgen ${source} -- "$current"));`;
}

function fish(table: readonly CommandSpec[]): string {
  const groups = groupsOf(table);
  const lines = [
    '# Completion of scratchfs. Made from its table of commands.',
    ...FISH_VALUES,
    'complete -c scratchfs -f',
  ];
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
  const isPrinted = complete === 'attempt' || complete === 'operation';
  return ` -a ${quoted(isPrinted ? `(__scratchfs_values ${complete} ${PRINTED[complete]})` : complete.join(' '))}`;
}

/** Function that prints the values of a kind, with the options of the completed line. */
const FISH_VALUES = [
  'function __scratchfs_values',
  '  set -l words (commandline -opc)',
  '  set -l given',
  '  for index in (seq 2 (count $words))',
  '    set -l word $words[$index]',
  '    set -l next (math $index + 1)',
  `    set -l value (string replace -r '^~/' "$HOME/" -- "$words[$next]")`,
  '    switch $word',
  "      case '--*=*'",
  "        set value (string replace -r '^[^=]*=' '' -- $word)",
  "        set word (string replace -r '=.*' '' -- $word)",
  "      case '-C?*' '-a?*'",
  '        set value (string sub -s 3 -- $word)',
  '        set word (string sub -l 2 -- $word)',
  '    end',
  '    switch $word',
  '      case -C --directory --store',
  '        set -a given $word $value',
  '      case -a --attempt',
  '        test $argv[1] = operation; and set -a given $word $value',
  '    end',
  '  end',
  '  scratchfs $argv[2..] $given 2>/dev/null',
  'end',
];

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
