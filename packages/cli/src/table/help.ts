import { widthOf, wrapText } from '../terminal/columns.js';
import type { Style } from '../terminal/style.js';
import type { CommandSpec, Group, OptionSpec } from './command-spec.js';
import { GLOBAL_OPTIONS, SHARED_OPTIONS } from './global-options.js';
import { synopsis } from './parse.js';

const WIDTH = 78;
const MIN_COLUMN = 16;
const GROUPS: readonly Group[] = ['Work', 'Look', 'Take back', 'Accept', 'Attempts', 'Files', 'Maintenance'];

const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'done'],
  ['1', 'failed'],
  ['2', 'wrong usage'],
  ['3', 'not found'],
  ['4', 'refused or declined'],
  ['5', 'conflict: somebody else has changed it'],
  ['130', 'interrupted by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP'],
];

const STORES: readonly (readonly [form: string, meaning: string])[] = [
  ['./directory', 'a directory of the disk'],
  ['./file.snapshot', 'a snapshot file; changes are written back at the end'],
  ['redis://host:6379/0?namespace=NAME', 'Redis; rediss:// with TLS'],
  ['s3://bucket/prefix?region=NAME', 'S3; needs @scratchfs/s3 and @aws-sdk/client-s3'],
  ['azure://container/NAME', 'Azure Blob Storage; needs @scratchfs/azure and @azure/storage-blob'],
  ['dynamodb://table/NAME?region=NAME', 'DynamoDB; needs @scratchfs/dynamodb and @aws-sdk/client-dynamodb'],
  ['sqlite:./agents.db?name=NAME', 'SQLite; needs Node 22.5 or libsql'],
  ['postgres://user@host/database?name=NAME', 'PostgreSQL; needs pg'],
  ['file:///path?name=NAME', 'a store of @scratchfs/disk'],
];

/** Topics of `help` besides the commands. */
export const TOPICS = ['exit-codes', 'stores'];

/** Returns the overview of all commands, or of those whose names begin with `prefix`, such as `fs `. */
export function overview(table: readonly CommandSpec[], style: Style, prefix = ''): string[] {
  const shown = table.filter(({ name }) => name.startsWith(prefix));
  const width = Math.max(...shown.map(({ name }) => name.length));
  const lines =
    prefix === ''
      ? [
          'Your agent works on your project. Nothing on your disk changes until you',
          'accept it, and every step can be undone.',
          '',
          `${style.heading('Usage')}  scratchfs COMMAND [OPTIONS]`,
        ]
      : [`${style.heading('Usage')}  scratchfs ${prefix}COMMAND [OPTIONS]`];
  for (const group of GROUPS) {
    const commands = shown.filter((spec) => spec.group === group);
    if (commands.length === 0) continue;
    lines.push('', style.heading(group));
    lines.push(...inColumns(commands.map(({ name, summary }) => [`  ${name.padEnd(width)}`, summary])));
  }
  lines.push('', '`scratchfs help COMMAND` explains one. Topics: exit-codes, stores.');
  return lines;
}

/** Returns the manual of one command. */
export function manual(spec: CommandSpec, style: Style): string[] {
  const lines = [
    `${style.heading(`scratchfs ${spec.name}`)}: ${spec.summary}`,
    '',
    `${style.heading('Usage')}  ${synopsis(spec)}`,
  ];
  for (const text of spec.details ?? []) lines.push('', ...wrapText(text, WIDTH));
  const args = (spec.arguments ?? []).map(({ name, help }) => [`  ${name}`, help]);
  if (args.length > 0) lines.push('', style.heading('Arguments'), ...inColumns(args));
  const own = [...(spec.options ?? []), ...(spec.takes ?? []).map((name) => SHARED_OPTIONS[name])];
  lines.push('', style.heading('Options'), ...inColumns([...own, ...GLOBAL_OPTIONS].map(optionRow)));
  if (spec.examples !== undefined) {
    lines.push('', style.heading('Examples'));
    lines.push(
      ...inColumns(
        spec.examples.map(({ command, help }) => [`  ${command}`, help]),
        (text) => style.dim(text),
      ),
    );
  }
  return lines;
}

/** Returns rows of two cells as lines with aligned columns. A long second cell is wrapped within its column. */
function inColumns(rows: readonly (readonly string[])[], painted = (text: string): string => text): string[] {
  const width = Math.max(...rows.map(([first = '']) => widthOf(first))) + 2;
  return rows.flatMap(([first = '', second = '']) =>
    wrapText(second, Math.max(MIN_COLUMN, WIDTH - width)).map(
      (line, index) => (index === 0 ? first : '').padEnd(width) + painted(line),
    ),
  );
}

function optionRow({ name, short, value, help }: OptionSpec): string[] {
  const letter = short === undefined ? '    ' : `-${short}, `;
  return [`  ${letter}--${name}${value === undefined ? '' : ` ${value}`}`, help];
}

/** Returns the page of a topic; undefined if there is no such topic. */
export function topic(name: string, style: Style): string[] | undefined {
  if (name === 'exit-codes')
    return [
      style.heading('Exit codes'),
      ...inColumns(EXIT_CODES.map(([code, meaning]) => [`  ${code}`, meaning])),
      '',
      '`scratchfs run` returns the exit code of its command.',
    ];
  if (name === 'stores')
    return [
      style.heading('Storages for --store'),
      ...inColumns(STORES.map(([form, meaning]) => [`  ${form}`, meaning])),
      '',
      ...wrapText(
        'For `fs`, `import`, `export` and `copy` the files are there. For all other commands attempts are kept there in place of the state directory of your home.',
        WIDTH,
      ),
    ];
  return undefined;
}
