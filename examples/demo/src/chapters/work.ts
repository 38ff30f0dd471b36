import type { SyncFileSystem } from 'scratchfs';
import { glob, grep } from 'scratchfs/search';
import { chooseTask, type Task } from '../choose-task.js';
import { bytes, count } from '../figures.js';
import { timed } from '../report.js';
import { concerned, type Stage, type Workshop } from '../stage.js';
import { VirtualCompiler } from '../virtual-compiler.js';
import { replaceWord, wordMatcher } from '../words.js';

export const SOURCES = '**/*.{ts,tsx,mts}';
export const PLAN = '/.agent/plan.md';

/**
 * Lets the agent prepare: it finds, reads and searches files, writes a plan, and lets the compiler check everything.
 */
export async function work(stage: Stage): Promise<Workshop> {
  const { fs, report } = stage;
  report.section(
    'The agent gets to work',
    'A scripted agent with nothing but this filesystem. Each line is one thing it does.',
  );

  const [found, findMs] = await timed(() => findSources(fs));
  report.action('find', SOURCES, count(found.length, 'file'), findMs);
  report.claim('these are the sources that a look at every path finds', sameList(found, sourcesByHand(fs)));

  const task =
    chooseTask(
      fs,
      found.filter((path) => fs.isFileSync(path) && !path.endsWith('.d.ts')),
    ) ?? ownTask(stage);
  const { oldName, newName, declaredIn, usedIn } = task;
  report.terminal.line();
  report.note(report.terminal.bold(`The task: rename ${oldName}() to ${newName}()`));
  report.terminal.line();

  const [lines, readMs] = await timed(() => fs.readLines(declaredIn));
  report.action('read', declaredIn, count(lines.length, 'line'), readMs);

  const [hits, grepMs] = await timed(() => search(fs, oldName));
  const files = [...new Set(hits.map(({ path }) => path))];
  report.action('grep', oldName, `${count(hits.length, 'line')} in ${count(files.length, 'file')}`, grepMs);
  report.claim('a plain reading of every source finds the same lines', hits.length === linesByHand(fs, oldName));

  const plan = [
    `# Rename ${oldName} to ${newName}`,
    '',
    '- [ ] know every place',
    '- [ ] rename, and have it checked',
    '',
    ...hits.map(({ path, line }) => `${path}:${line}`),
  ];
  const [, writeMs] = await timed(async () => {
    await fs.mkdir('/.agent', { recursive: true });
    await fs.writeLines(PLAN, plan);
  });
  report.action('create', PLAN, bytes(fs.statSync(PLAN).size), writeMs);
  const [edited, editMs] = await timed(() => fs.editFile(PLAN, '- [ ] know every place', '- [x] know every place'));
  report.action('edit', PLAN, count(edited, 'place'), editMs);
  const expected = plan.map((line) => (line === plan[2] ? '- [x] know every place' : line));
  report.claim('the plan reads back as it was written and edited', sameList(fs.readLinesSync(PLAN), expected));

  const [compiler, startMs] = await timed(() => VirtualCompiler.load());
  const [known, checkMs] = await timed(() => compiler.check(fs, concerned(task)));
  report.action('check', `TypeScript ${compiler.ts.version}`, count(compiler.filesRead, 'file'), startMs + checkMs);
  const packages =
    known.length === 0 ? '' : `; ${count(known.length, 'complaint')} about what this tree lacks, set aside`;
  report.remark(`the compiler reads the sources out of memory${packages}`);
  report.claim(
    `the compiler has seen ${count(usedIn.length, 'file')} that import ${oldName} and the one that has it`,
    compiler.filesRead >= concerned(task).length,
  );
  report.summarize('Searched', `${count(found.length, 'source')} by name and by text`, findMs + grepMs);
  report.summarize('Checked', `${count(compiler.filesRead, 'file')} by TypeScript, the first time`, startMs + checkMs);
  return { ...stage, compiler, task, known };
}

/** Returns the paths of all sources, sorted. */
export async function findSources(fs: SyncFileSystem): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(fs, SOURCES, { onlyFiles: true })) found.push(path);
  return found;
}

/** Returns every source line in which a name occurs as a whole word. */
export async function search(fs: SyncFileSystem, name: string): Promise<{ path: string; line: number }[]> {
  const hits: { path: string; line: number }[] = [];
  const options = { glob: SOURCES, maxMatches: 100_000 };
  for await (const { path, line } of grep(fs, wordMatcher(name), options)) hits.push({ path, line });
  return hits;
}

function sourcesByHand(fs: SyncFileSystem): string[] {
  return [...fs.walkSync('/')]
    .filter(({ isDirectory, path }) => !isDirectory && /\.(ts|tsx|mts)$/.test(path) && !path.includes('/.'))
    .map(({ path }) => path);
}

function linesByHand(fs: SyncFileSystem, name: string): number {
  const files = sourcesByHand(fs).filter((path) => fs.lstatSync(path).isFile());
  const lines = files.map((path) => fs.readTextSync(path)).filter((text) => !text.slice(0, 8192).includes('\0'));
  return lines.flatMap((text) => text.split('\n')).filter((line) => replaceWord(line, name, name).count > 0).length;
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** Writes sources with something to rename if the tree has none. */
function ownTask({ fs, report }: Stage): Task {
  fs.mkdirSync('/agent-work/people', { recursive: true });
  fs.writeFileSync(
    '/agent-work/greeting.ts',
    'export function makeGreeting(name: string): string {\n  return "Hello, " + name;\n}\n',
  );
  const use = (name: string) =>
    `import { makeGreeting } from '../greeting.js';\n\nexport const greeting: string = makeGreeting('${name}');\n`;
  for (const name of ['ada', 'grace', 'karen']) fs.writeFileSync(`/agent-work/people/${name}.ts`, use(name));
  report.action('create', '/agent-work', '4 files');
  report.remark('no function here is imported by a few others, so the agent writes some of its own');
  const usedIn = ['ada', 'grace', 'karen'].map((name) => `/agent-work/people/${name}.ts`);
  return {
    declaredIn: '/agent-work/greeting.ts',
    declaration: 'function makeGreeting(',
    oldName: 'makeGreeting',
    newName: 'createGreeting',
    usedIn,
  };
}
