import type { Checkpoint, SyncFileSystem } from 'scratchfs';
import { count, duration } from '../figures.js';
import { fingerprint } from '../fingerprint.js';
import { timed } from '../report.js';
import { concerned, type Workshop } from '../stage.js';
import { visibleLength } from '../terminal.js';
import { newProblems, type Problem } from '../virtual-compiler.js';
import { replaceWord } from '../words.js';
import { search } from './work.js';

/** A filesystem in which one way of doing the task was tried. */
export interface Attempt {
  readonly idea: string;
  readonly fs: SyncFileSystem;
  readonly start: Checkpoint;
  readonly changed: readonly string[];
  readonly problems: readonly Problem[];
  /** Number of lines that still have the old name. */
  readonly leftovers: number;
}

/** Tries two ways in two forks, checks both in the same way, and keeps the better one. */
export async function attempts(workshop: Workshop): Promise<Attempt> {
  const { fs, report } = workshop;
  const { terminal } = report;
  report.section(
    'Two attempts side by side',
    'A fork is a filesystem of its own that shares everything until it is written to.',
  );

  const before = fingerprint(fs);
  const [first, firstForkMs] = await timed(() => fs.fork());
  const [second, secondForkMs] = await timed(() => fs.fork());
  report.action('fork', 'twice', count(fs.statsSync().nodeCount * 2, 'entry', 'entries'), firstForkMs + secondForkMs);
  const [a, aMs] = await timed(() => attempt(workshop, first, 'keep the old name as an alias', renameWithAlias));
  const [b, bMs] = await timed(() => attempt(workshop, second, 'rename at every place', renameEverywhere));
  const best = better(a, b);

  const column = 34;
  const row = (label: string, left: string, right: string) =>
    report.note(`${terminal.dim(label.padEnd(17))}${left + ' '.repeat(column - visibleLength(left))}${right}`);
  terminal.line();
  row('', 'attempt A', 'attempt B');
  row('idea', a.idea, b.idea);
  row('files changed', String(a.changed.length), String(b.changed.length));
  row('new errors', String(a.problems.length), String(b.problems.length));
  row('old name left', count(a.leftovers, 'line'), count(b.leftovers, 'line'));
  row('time with check', duration(aMs), duration(bMs));
  row(
    '',
    best === a ? terminal.green('kept') : terminal.dim('dropped'),
    best === b ? terminal.green('kept') : terminal.dim('dropped'),
  );
  terminal.line();

  report.claim('neither attempt has touched the filesystem it came from (SHA-256)', fingerprint(fs) === before);
  report.claim(
    'the two are different, and each has only its own changes',
    fingerprint(a.fs) !== fingerprint(b.fs) && onlyOwnChanges(fs, a) && onlyOwnChanges(fs, b),
  );
  report.claim('the one that is kept passes the check', best.problems.length === 0);
  report.summarize('Fork', 'twice', firstForkMs + secondForkMs);
  report.summarize('Attempts', 'two, each with its edits and its check', aMs + bMs);
  await (best === a ? b : a).fs.close();
  return best;
}

type Way = (fs: SyncFileSystem, workshop: Workshop) => Promise<string[]>;

async function attempt(workshop: Workshop, fs: SyncFileSystem, idea: string, way: Way): Promise<Attempt> {
  const { compiler, task, known } = workshop;
  const start = await fs.checkpoint('start');
  const changed = await way(fs, workshop);
  const problems = newProblems(known, compiler.check(fs, concerned(task)));
  const leftovers = (await search(fs, task.oldName)).length;
  return { idea, fs, start, changed: changed.sort(), problems, leftovers };
}

const renameWithAlias: Way = async (fs, { task }) => {
  const { declaredIn, declaration, oldName, newName } = task;
  await fs.editFile(declaredIn, declaration, declaration.replace(oldName, newName), { all: true });
  await fs.appendFile(
    declaredIn,
    `\n/** @deprecated Use {@link ${newName}}. */\nexport const ${oldName} = ${newName};\n`,
  );
  return [declaredIn];
};

const renameEverywhere: Way = async (fs, { task }) => {
  const hits = await search(fs, task.oldName);
  const paths = [...new Set(hits.map(({ path }) => path))];
  for (const path of paths) {
    const { text } = replaceWord(await fs.readText(path), task.oldName, task.newName);
    await fs.writeFile(path, text);
  }
  return paths;
};

/** Returns the attempt with fewer errors, then fewer leftovers, then fewer files. */
function better(a: Attempt, b: Attempt): Attempt {
  const difference =
    a.problems.length - b.problems.length || a.leftovers - b.leftovers || a.changed.length - b.changed.length;
  return difference <= 0 ? a : b;
}

/** Reports whether exactly the changed files differ from the original filesystem. */
function onlyOwnChanges(origin: SyncFileSystem, { fs, changed }: Attempt): boolean {
  const paths = [...fs.walkSync('/')].filter(({ kind }) => kind === 'file').map(({ path }) => path);
  const differ = paths.filter((path) => Buffer.compare(fs.readFileSync(path), origin.readFileSync(path)) !== 0);
  return differ.length === changed.length && differ.every((path) => changed.includes(path));
}
