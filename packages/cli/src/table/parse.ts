import { parseArgs } from 'node:util';
import { usageError } from '../errors.js';
import type { CommandSpec, OptionSpec } from './command-spec.js';
import { GLOBAL_OPTIONS, SHARED_OPTIONS } from './global-options.js';
import { nearest } from './nearest.js';
import { Options } from './options.js';

/** A parsed command line. `spec` is undefined if the line names no command, or only a group such as `fs`. */
export interface ParsedLine {
  readonly spec: CommandSpec | undefined;
  /** Words that name a group or command. */
  readonly words: readonly string[];
  readonly args: readonly string[];
  /** Number of the arguments before `--`. */
  readonly plain: number;
  readonly options: Options;
}

const VERSION: OptionSpec = { name: 'version', short: 'V', help: 'Print the version' };
const TOP_OPTIONS = [...GLOBAL_OPTIONS, ...Object.values(SHARED_OPTIONS), VERSION];

/** Returns the options that a command accepts, its own first. */
export function optionsOf(spec: CommandSpec): readonly OptionSpec[] {
  return [...(spec.options ?? []), ...(spec.takes ?? []).map((name) => SHARED_OPTIONS[name]), ...GLOBAL_OPTIONS];
}

/** Parses a command line. @throws CliError with the exit code `usage` */
export function parseLine(table: readonly CommandSpec[], argv: readonly string[]): ParsedLine {
  const { words, before, after } = splitWords(table, argv);
  const rest = [...before, ...after];
  const spec = table.find(({ name }) => name === words.join(' '));
  if (spec === undefined) {
    const isGroup = words.length > 0 && table.some(({ name }) => name.startsWith(`${words.join(' ')} `));
    const { options } = parseRest(rest, TOP_OPTIONS, 'scratchfs', false);
    const isAsked = options.flag('help') || options.flag('version');
    const isKnown = words.length === 0 || isGroup;
    if (!isKnown) throw unknownCommand(table, words);
    if (!isAsked && isGroup) {
      const following = rest.find((word) => !word.startsWith('-'));
      if (following !== undefined) throw unknownCommand(table, [...words, following]);
    }
    return { spec: undefined, words, args: [], plain: 0, options };
  }
  if (spec.passesOn) {
    const { options } = parseRest(before, optionsOf(spec), `scratchfs ${spec.name}`, false);
    return { spec, words, args: after, plain: 0, options };
  }
  const { args, plain, options } = parseRest(
    rest,
    optionsOf(spec),
    `scratchfs ${spec.name}`,
    spec.endsOptions === true,
  );
  if (!options.flag('help')) checkCount(spec, args);
  return { spec, words, args, plain, options };
}

/**
 * Finds the words that name a command, at most two. `before` are the options in front of and between them, with their
 * values; `after` is everything that follows.
 */
function splitWords(table: readonly CommandSpec[], argv: readonly string[]) {
  const words: string[] = [];
  const before: string[] = [];
  let index = 0;
  for (; index < argv.length; index++) {
    const argument = argv[index] as string;
    if (argument === '--') break;
    if (argument.startsWith('-') && argument !== '-') {
      before.push(argument);
      const isWithValue = TOP_OPTIONS.some(
        ({ name, short, value }) => value !== undefined && (argument === `--${name}` || argument === `-${short}`),
      );
      if (isWithValue && index + 1 < argv.length) before.push(argv[++index] as string);
      continue;
    }
    const isFirst = words.length === 0;
    const joined = [...words, argument].join(' ');
    const isPart = table.some(({ name }) => name === joined || name.startsWith(`${joined} `));
    if (!isFirst && !isPart) break;
    words.push(argument);
    if (!table.some(({ name }) => name.startsWith(`${joined} `))) {
      index++;
      break;
    }
  }
  return { words, before, after: argv.slice(index) };
}

function parseRest(rest: readonly string[], specs: readonly OptionSpec[], command: string, endsOptions: boolean) {
  const config = Object.fromEntries(
    specs.map(({ name, short, value }) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  const parse = (args: readonly string[]) =>
    parseArgs({ args: [...args], options: config, strict: false, allowPositionals: true, tokens: true }).tokens;
  let tokens = parse(rest);
  let passedOn: readonly string[] = [];
  if (endsOptions) {
    // `try` has a number before the command.
    const positionals = tokens.filter(({ kind }) => kind === 'positional');
    const terminator = tokens.find(({ kind }) => kind === 'option-terminator');
    const isCounted = command === 'scratchfs try';
    const first = positionals[isCounted ? 1 : 0];
    const cut = Math.min(terminator?.index ?? rest.length, first?.index ?? rest.length);
    passedOn = rest.slice(cut === terminator?.index ? cut + 1 : cut);
    tokens = parse(rest.slice(0, cut));
  }
  const args: string[] = [];
  let plain: number | undefined;
  const values = new Map<string, (string | true)[]>();
  for (const token of tokens) {
    if (token.kind === 'positional') args.push(token.value);
    if (token.kind === 'option-terminator') plain ??= args.length;
    if (token.kind !== 'option') continue;
    const spec = specs.find(({ name }) => name === token.name);
    if (spec === undefined) throw unknownOption(token.rawName, rest[token.index] ?? '', specs, command);
    const { value } = token;
    if (spec.value === undefined && value !== undefined)
      throw usageError(`${token.rawName} takes no value.`, `See \`${command} --help\`.`);
    if (spec.value !== undefined && value === undefined)
      throw usageError(
        `${token.rawName} needs a value: ${token.rawName} ${spec.value}.`,
        `--${spec.name} ${spec.value}: ${spec.help}`,
      );
    if (value !== undefined && token.inlineValue === false && /^-./.test(value))
      throw usageError(
        `${token.rawName} needs a value, and ${value} looks like an option.`,
        `If it is the value, write ${token.rawName}=${value}.`,
      );
    const list = values.get(spec.name) ?? [];
    list.push(value ?? true);
    values.set(spec.name, list);
  }
  return { args: [...args, ...passedOn], plain: plain ?? args.length, options: new Options(values) };
}

/** @param argument the whole argument that contains the option, such as `-12` for the option `-1` */
function unknownOption(rawName: string, argument: string, specs: readonly OptionSpec[], command: string) {
  const names = specs.map(({ name }) => `--${name}`);
  const near = rawName.startsWith('--') ? nearest(rawName, names) : undefined;
  if (/^-\d+$/.test(argument))
    return usageError(
      `\`${command}\` has no option ${argument}.`,
      `Write a number without \`-\`: ${command} ${argument.slice(1)}`,
    );
  const hint = near === undefined ? `\`${command} --help\` lists the options.` : `Did you mean ${near}?`;
  return usageError(`\`${command}\` has no option ${rawName}.`, hint);
}

/**
 * Returns the error for words that name no command. It suggests the nearest name, in a group such as `export` only of
 * that group.
 */
function unknownCommand(table: readonly CommandSpec[], words: readonly string[]) {
  const word = words.at(-1) ?? '';
  const prefix = words
    .slice(0, -1)
    .map((one) => `${one} `)
    .join('');
  const names = table.filter(({ name }) => name.startsWith(prefix)).map(({ name }) => name.slice(prefix.length));
  const near = nearest(word, names);
  const all = prefix === '' ? '`scratchfs help` lists the commands.' : `It is one of: ${names.join(', ')}`;
  return usageError(
    `There is no command \`scratchfs ${prefix}${word}\`.`,
    near === undefined ? all : `Did you mean \`scratchfs ${prefix}${near}\`?`,
  );
}

function checkCount(spec: CommandSpec, args: readonly string[]): void {
  const known = spec.arguments ?? [];
  const needed = known.filter(({ isOptional }) => isOptional !== true);
  const hint = `Usage: ${synopsis(spec)}`;
  const missing = needed[args.length];
  if (missing !== undefined) throw usageError(`${missing.name} is missing.`, hint);
  const extra = args[known.length];
  if (extra !== undefined && !known.some(({ isRepeated }) => isRepeated)) {
    throw usageError(
      known.length === 0 ? `\`scratchfs ${spec.name}\` takes no arguments.` : `${extra} is one argument too many.`,
      known.length === 0 ? `${hint}. \`-C DIR\` works in another directory.` : hint,
    );
  }
}

/** Returns the usage line of a command, such as `scratchfs fs ls [OPTIONS] [PATH]`. */
export function synopsis(spec: CommandSpec): string {
  const parts = (spec.arguments ?? []).map(({ name, isOptional, isRepeated }) => {
    const text = isRepeated ? `${name}…` : name;
    return isOptional ? `[${text}]` : text;
  });
  const options = (spec.options?.length ?? 0) + (spec.takes?.length ?? 0) > 0 ? ['[OPTIONS]'] : [];
  if (spec.endsOptions) parts.splice(-1, 0, '--');
  return ['scratchfs', spec.name, ...options, ...parts].join(' ');
}
