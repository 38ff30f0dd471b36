import { isFsError, type SyncFileSystem } from 'scratchfs';
import { bytes, count } from '../figures.js';
import { fingerprint } from '../fingerprint.js';
import { type Report, timed } from '../report.js';
import { printable } from '../terminal.js';

const LOG = '/.agent/build.log';
const PIECE = 65_536;

/** Lets the agent write endlessly until the quota stops it. */
export async function quota(fs: SyncFileSystem, report: Report): Promise<void> {
  const { terminal } = report;
  report.section('A full quota', 'A log that never stops growing. What does the agent get to see?');

  const text = 'warning: this line is written again and again\n'.repeat(PIECE).slice(0, PIECE);
  let pieces = 0;
  const [error, ms] = await timed(async () => {
    for (;;) {
      try {
        await fs.appendFile(LOG, text);
        pieces++;
      } catch (caught) {
        return caught;
      }
    }
  });
  if (!isFsError(error)) throw error;
  const { totalSize } = fs.statsSync();
  const before = fingerprint(fs);
  const repeated = await fs.appendFile(LOG, text).catch((caught: unknown) => caught);

  report.action('append', LOG, `${count(pieces, 'time')}, ${bytes(pieces * PIECE)}`, ms);
  const [first = '', second = ''] = error.message.split('. ');
  terminal.prose(`      ${terminal.red('│')} `, printable(first));
  if (second !== '') terminal.prose(`      ${terminal.red('│')} `, printable(second), terminal.dim);
  terminal.line();
  for (const key of ['code', 'limit', 'allowed', 'used', 'requested'] as const) {
    const value = error[key];
    const shown = typeof value === 'number' ? value.toLocaleString('en-US').padStart(14) : String(value).padStart(14);
    report.note(`${terminal.dim(`error.${key}`.padEnd(18))}${shown}`);
  }
  terminal.line();

  report.claim(
    'the error says which limit, what is used and what was asked for',
    error.code === 'ENOSPC' &&
      error.limit === 'maxTotalSize' &&
      error.allowed === fs.limits.maxTotalSize &&
      error.used === totalSize &&
      error.requested === totalSize + PIECE,
  );
  report.claim(
    'the write that was refused has changed nothing, however often it is tried',
    isFsError(repeated, 'ENOSPC') && fs.statSync(LOG).size === pieces * PIECE && fingerprint(fs) === before,
  );
  await fs.rm(LOG);
  await fs.writeFile('/.agent/note.txt', 'There is room again.\n');
  report.claim('with the log gone there is room again', fs.statsSync().totalSize === totalSize - pieces * PIECE + 21);
  await fs.rm('/.agent/note.txt');
  report.summarize('Filled', `${bytes(pieces * PIECE)} in ${count(pieces, 'append')}, until ENOSPC`, ms);
}
