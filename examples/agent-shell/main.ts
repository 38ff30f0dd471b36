import { createBashFs } from '@scratchfs/node-fs/bash';
import { Bash } from 'just-bash';
import { createFileSystem } from 'scratchfs';
import { formatDiff } from 'scratchfs/diff';

const fs = createFileSystem({
  files: {
    '/shop/prices.csv': 'item,cents\napple,120\npear,95\nplum,40\n',
    '/shop/notes/monday.md': '# Monday\n\n- count the pears\n- TODO call the baker\n',
    '/shop/notes/tuesday.md': '# Tuesday\n\n- TODO order flour\n',
    '/shop/check.sh': 'grep -q "^pear," prices.csv && [ "$(ls notes | wc -l)" -ge 2 ]\n',
  },
  limits: { maxTotalSize: 1_000_000, maxNodeCount: 1_000 },
});
const shell = new Bash({ fs: createBashFs(fs), cwd: '/shop' });

/** The tool that a harness gives a model: runs a command and returns its output and exit code. */
async function bash(command: string): Promise<{ output: string; exitCode: number }> {
  try {
    const { stdout, stderr, exitCode } = await shell.exec(command);
    return { output: stdout + stderr, exitCode };
  } catch (error) {
    // just-bash rejects if a redirect is refused, for example by a limit above: for the model an ordinary result.
    return { output: `${error instanceof Error ? error.message : error}\n`, exitCode: 1 };
  }
}

/** One step: checkpoint, run, look at the changes, and roll back unless the project's own check passes. */
async function step(purpose: string, command: string): Promise<boolean> {
  const before = await fs.checkpoint();
  const { output, exitCode } = await bash(command);
  const changes = await formatDiff(fs, before);
  const isGood = exitCode === 0 && (await bash('sh check.sh')).exitCode === 0;
  if (!isGood) await fs.rollback(before);
  await fs.drop(before);
  const verdict = isGood ? 'kept' : `taken back: ${exitCode === 0 ? 'the check failed' : `exit code ${exitCode}`}`;
  console.log(`\n● ${purpose}\n$ ${command.replaceAll('\n', '\n> ')}\n${shown(output + changes)}  → ${verdict}`);
  return isGood;
}

const MAX_LINES = 16;

/** Returns the first lines of a text, indented. */
function shown(text: string): string {
  const lines = text.split('\n').slice(0, -1);
  const rest = lines.length > MAX_LINES ? [`… and ${lines.length - MAX_LINES} more lines`] : [];
  return [...lines.slice(0, MAX_LINES), ...rest].map((line) => `  ${line}\n`).join('');
}

const steps = [
  await step('What is still to do?', 'grep -rn TODO notes | sort'),
  await step(
    'Raise every price by a tenth',
    `awk -F, 'NR == 1 { print; next } { printf "%s,%d\\n", $1, $2 * 1.1 }' prices.csv > new.csv && mv new.csv prices.csv`,
  ),
  await step('Tidy up', 'rm -rf notes && find . -type f | sort'),
  await step('Double the list until it is long', 'cp prices.csv a; for i in {1..20}; do cat a a > b; mv b a; done'),
  await step(
    'Tick off what is done, and keep a list',
    `sed -i 's/TODO \\(call the baker\\)/done: \\1/' notes/monday.md
ln -s notes/tuesday.md today
cat > report.txt <<END
$(grep -rc TODO notes | awk -F: '{ n += $2 } END { print n }') left
END`,
  ),
];

const { output } = await bash('cat prices.csv report.txt; ls; tail -n 1 today');
console.log(`\nAt the end:\n${shown(output)}`);

// The third and the fourth step were careless. They must have left no trace.
const isAsPlanned = steps.join() === 'true,true,false,false,true';
const isWhole = (await fs.readdir('/shop/notes')).length === 2 && !(await fs.exists('/shop/a'));
console.log(isAsPlanned && isWhole ? '✓ careless steps left no trace' : '✗ something is not as it should be');
process.exitCode = isAsPlanned && isWhole ? 0 : 1;
