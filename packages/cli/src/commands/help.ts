import { usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { manual, overview, TOPICS, topic } from '../table/help.js';
import { nearest } from '../table/nearest.js';
import { optionsOf, synopsis } from '../table/parse.js';

export async function run({ args, table, output }: Call): Promise<Result> {
  const name = args.join(' ');
  const spec = table.find((one) => one.name === name);
  if (output.isJson) return { json: await describe(name, table) };
  if (name === '') return { lines: overview(table, output.style) };
  const lines = spec === undefined ? topic(name, output.style) : manual(spec, output.style);
  if (lines !== undefined) return { lines };
  if (table.some((one) => one.name.startsWith(`${name} `))) return { lines: overview(table, output.style, `${name} `) };
  throw unknown(name, table);
}

async function describe(name: string, table: Call['table']): Promise<Record<string, unknown>> {
  const shown = table.filter((spec) => name === '' || spec.name === name || spec.name.startsWith(`${name} `));
  if (shown.length === 0) throw unknown(name, table);
  const { resultSchema } = await import('../json/result-schemas.js');
  const commands = shown.map((spec) => ({
    name: spec.name,
    summary: spec.summary,
    usage: synopsis(spec),
    arguments: spec.arguments ?? [],
    options: optionsOf(spec),
    result: resultSchema(spec.name),
  }));
  return { commands };
}

function unknown(name: string, table: Call['table']) {
  const near = nearest(name, [...table.map((spec) => spec.name), ...TOPICS]);
  return usageError(
    `There is no help about ${name}.`,
    near === undefined ? '`scratchfs help` lists commands and topics.' : `Did you mean \`scratchfs help ${near}\`?`,
  );
}
