import { parseArgs } from 'node:util';
import { buildWorker, nodeFor, run } from './processes.js';
import { SUBJECTS, type SubjectName } from './subjects/index.js';
import { type Cell, table } from './table.js';
import { LARGE, WORK } from './work/index.js';

/**
 * `npm run bench`: every round gives each subject a process of its own for each piece of work, in turns; the table has
 * medians. `--only text` picks rows and `--subjects a,b` columns, `--large` adds what takes minutes, `--rounds 5` asks
 * for more, `--markdown file` writes the table.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    subjects: { type: 'string', default: Object.keys(SUBJECTS).join() },
    large: { type: 'boolean', default: false },
    markdown: { type: 'string' },
  },
});

const wanted = values.subjects.split(',');
const names = (Object.keys(SUBJECTS) as SubjectName[]).filter(
  (name) => wanted.includes(name) && nodeFor(name) !== undefined,
);
const work = [...WORK, ...(values.large ? LARGE : [])].filter(({ title }) => title.includes(values.only));
const worker = await buildWorker();
const cells = new Map<string, Map<SubjectName, Cell>>(work.map(({ title }) => [title, new Map()]));

const sharing = new Set<SubjectName>();

for (let round = 0; round < Number(values.rounds); round++) {
  for (const { title } of work) {
    const row = cells.get(title) as Map<SubjectName, Cell>;
    process.stderr.write(`round ${round + 1}: ${title}\n`);
    // Whoever comes first in a round is not always the same.
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length] as SubjectName;
      const cell = row.get(name) ?? [];
      if (typeof cell === 'string') continue;
      const outcome = await run(worker, name, title);
      row.set(name, typeof outcome === 'string' ? outcome : [...cell, outcome.figure]);
      if (typeof outcome === 'object' && outcome.isSharing) sharing.add(name);
    }
  }
}

table(work, names, cells, { rounds: Number(values.rounds), sharing, file: values.markdown });
