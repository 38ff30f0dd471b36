import { count } from '../figures.js';
import { fingerprint } from '../fingerprint.js';
import { timed } from '../report.js';
import { concerned, type Workshop } from '../stage.js';
import { printable } from '../terminal.js';
import { newProblems, type Problem } from '../virtual-compiler.js';

const SHOWN = 3;

/** Lets the agent make a careless change, which the compiler finds and a rollback undoes. */
export async function risk({ fs, report, compiler, task, known }: Workshop): Promise<void> {
  const { declaredIn, declaration, oldName, newName, usedIn } = task;
  const { terminal } = report;
  report.section(
    'A risky step, checked and taken back',
    'A checkpoint takes as long for a million files. So: checkpoint, try, check.',
  );

  const before = fingerprint(fs);
  const entries = fs.statsSync().nodeCount;
  const [checkpoint, checkpointMs] = await timed(() => fs.checkpoint('before the risky step'));
  report.action('checkpoint', checkpoint.name ?? checkpoint.id, count(entries, 'entry', 'entries'), checkpointMs);

  const [edited, editMs] = await timed(() =>
    fs.editFile(declaredIn, declaration, declaration.replace(oldName, newName), { all: true }),
  );
  report.action('edit', declaredIn, count(edited, 'place'), editMs);
  const doomed = usedIn
    .map((path) => path.slice(0, path.lastIndexOf('/')))
    .find((folder) => folder !== '' && !declaredIn.startsWith(`${folder}/`));
  if (doomed !== undefined) {
    const [, ms] = await timed(() => fs.rm(doomed, { recursive: true }));
    report.action('rm -r', doomed, `${count(entries - fs.statsSync().nodeCount, 'entry', 'entries')} gone`, ms);
  }

  const [after, checkMs] = await timed(() => compiler.check(fs, concerned(task)));
  const problems = newProblems(known, after);
  report.action('check', `TypeScript ${compiler.ts.version}`, terminal.red(count(problems.length, 'error')), checkMs);
  for (const { file, line, code, message } of [...problems].sort(inFilesFirst).slice(0, SHOWN)) {
    if (file !== '') report.note(`${terminal.red('│')} ${terminal.dim(printable(`${file}:${line}`))}`);
    report.note(`${terminal.red('│')} ${printable(`TS${code} ${message}`)}`);
  }
  if (problems.length > SHOWN)
    report.note(`${terminal.red('│')} ${terminal.dim(`… and ${problems.length - SHOWN} more`)}`);
  report.claim('the check fails, as it should', problems.length > 0);

  const [, rollbackMs] = await timed(() => fs.rollback(checkpoint));
  report.action(
    'rollback',
    checkpoint.name ?? checkpoint.id,
    count(fs.statsSync().nodeCount, 'entry', 'entries'),
    rollbackMs,
  );
  report.claim('everything is as it was: names, contents, modes, times, links (SHA-256)', fingerprint(fs) === before);
  const again = newProblems(known, compiler.check(fs, concerned(task)));
  report.claim('the same check finds nothing any more', again.length === 0);
  report.summarize('Checkpoint', `of ${count(entries, 'entry', 'entries')}`, checkpointMs);
  report.summarize('Rollback', `after ${count(problems.length, 'error')}`, rollbackMs);
  await fs.drop(checkpoint);
}

/** Sorts problems with a line before those of missing files. */
function inFilesFirst(a: Problem, b: Problem): number {
  return Number(a.file === '') - Number(b.file === '');
}
