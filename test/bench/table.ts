import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { median } from './median.js';
import type { Cell, Results } from './results.js';
import type { SubjectName } from './subjects/index.js';
import type { Unit, Work } from './work/work.js';

const OURS: SubjectName = 'scratchfs';

/** Markers of the table in a Markdown file. A file without them is replaced by the table. */
const BEGIN = '<!-- begin of the table -->';
const END = '<!-- end of the table -->';

/** Prints medians of scratchfs and the ratio of each subject to it; also writes them as Markdown if a file is named. */
export function table(
  work: readonly Pick<Work, 'title' | 'unit'>[],
  names: readonly SubjectName[],
  results: Results,
  file: string | undefined,
): void {
  const others = names.filter((name) => name !== OURS);
  const header = ['', OURS, ...others];
  const lines = work.map(({ title, unit }) => {
    const ours = results.get(title, OURS);
    return [
      title,
      typeof ours === 'object' ? `${amount(median(ours), unit)} ${unit}` : (ours ?? ''),
      ...others.map((name) => ratio(results.get(title, name), ours, unit)),
    ];
  });
  const all = [header, ...lines];
  const widths = header.map((_, column) => Math.max(...all.map((line) => (line[column] as string).length)));
  const padded = all.map((line) =>
    line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number),
    ),
  );
  console.log(padded.map((line) => line.join('  ')).join('\n'));
  const method =
    `CPU time of the whole process with its garbage collector, medians of ${results.rounds} rounds, each subject and row in a ` +
    `fresh process. The first column is scratchfs; the others say how many times as long (for MB/s, what share) ` +
    `theirs takes. ${[...results.sharing].map((name) => `${name} shares bytes with its callers where the others copy. `).join('')}` +
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ` +
    `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${(loadavg()[2] ?? 0).toFixed(1)}.`;
  console.log(`\n${method}`);
  if (file === undefined) return;
  const bar = `|${header.map((_, column) => (column === 0 ? '---' : '--:')).join('|')}|`;
  const markdown = all.map((line) => `| ${line.join(' | ')} |`);
  writeBetween(file, `${[method, '', markdown[0], bar, ...markdown.slice(1)].join('\n')}\n`);
}

function writeBetween(file: string, text: string): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const begin = before.indexOf(BEGIN);
  const end = before.indexOf(END);
  const hasPlace = begin !== -1 && end > begin;
  writeFileSync(file, hasPlace ? `${before.slice(0, begin + BEGIN.length)}\n\n${text}\n${before.slice(end)}` : text);
}

function ratio(theirs: Cell | undefined, ours: Cell | undefined, unit: Unit): string {
  if (typeof theirs !== 'object') return theirs ?? '';
  if (typeof ours !== 'object') return amount(median(theirs), unit);
  const quotient = median(theirs) / median(ours);
  return quotient < 10 ? quotient.toFixed(2) : String(Math.round(quotient));
}

/** Formats a figure in its display unit. Figures are in nanoseconds or bytes; those in MB/s already have that unit. */
function amount(figure: number, unit: Unit): string {
  const scaled = figure / ({ ns: 1, µs: 1e3, ms: 1e6, 'MB/s': 1, B: 1, KB: 1e3, MB: 1e6 } as const)[unit];
  return scaled < 10 ? scaled.toFixed(2) : String(Math.round(scaled));
}
