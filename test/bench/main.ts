import { parseArgs } from 'node:util';
import { BUNDLE, buildModule, IMPORT, runBundle, runImport } from './load-cost.js';
import { buildWorker, nodeFor, run } from './processes.js';
import { Results } from './results.js';
import { SUBJECTS, type SubjectName } from './subjects/index.js';
import { table } from './table.js';
import { LARGE, WORK } from './work/index.js';
import type { Measured } from './worker.js';

/**
 * `npm run bench -- memory`: each round starts a process for each subject and each row, interleaved; the table has
 * medians. `--only text` (repeatable) selects rows, `--subjects a,b` columns; `--large` adds rows that take minutes;
 * `--rounds 5` sets the number of rounds; `--markdown file` writes the table. With `--keep file`, cells that the file
 * already has are not measured again, so a table can be made in several runs. `--seconds 60` raises the time limit of a
 * process, for a busy machine.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', multiple: true, default: [''] },
    subjects: { type: 'string', default: Object.keys(SUBJECTS).join() },
    large: { type: 'boolean', default: false },
    markdown: { type: 'string' },
    keep: { type: 'string' },
    seconds: { type: 'string', default: '30' },
  },
});

const wanted = values.subjects.split(',');
const names = (Object.keys(SUBJECTS) as SubjectName[]).filter(
  (name) => wanted.includes(name) && nodeFor(name) !== undefined,
);
const usual = [...WORK, IMPORT, BUNDLE];
const all = [...usual, ...LARGE];
const work = (values.large ? all : usual).filter(({ title }) => values.only.some((text) => title.includes(text)));
const worker = await buildWorker();
await buildModule();
const results = new Results(values.keep);
const rounds = Number(values.rounds);

for (let round = 0; round < rounds; round++) {
  for (const { title } of work) {
    process.stderr.write(`round ${round + 1}: ${title}\n`);
    // Rotates, so that each subject is sometimes first in a round.
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length] as SubjectName;
      const cell = results.get(title, name);
      if (typeof cell === 'string' || (cell?.length ?? 0) > round) continue;
      results.add(title, name, await measure(title, name));
    }
  }
}

function measure(title: string, name: SubjectName): Promise<Measured | string> {
  if (title === IMPORT.title) return runImport(name);
  if (title === BUNDLE.title) return runBundle(name);
  return run(worker, name, title, Number(values.seconds) * 1_000);
}

const shown = values.keep === undefined ? work : all.filter(({ title }) => results.has(title));
table(shown, names, results, values.markdown);
