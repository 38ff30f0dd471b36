import { collectGarbage } from './garbage.js';
import { median } from './median.js';
import { SUBJECTS, type SubjectName } from './subjects/index.js';
import { selfCheck } from './subjects/self-check.js';
import type { Make } from './subjects/subject.js';
import { LARGE, WORK } from './work/index.js';
import type { Work } from './work/work.js';

/** Result that a measuring process prints as a line of JSON. */
export type Outcome =
  | Measured
  /** The subject does not have this operation. */
  | { readonly missing: true };

export interface Measured {
  /** Nanoseconds or bytes per operation, or megabytes per second. */
  readonly figure: number;
  /** True if the subject keeps callers' bytes or returns its own, which saves a copy that others make. */
  readonly isSharing: boolean;
}

const [, , name = '', title = ''] = process.argv;
const make: Make | undefined = SUBJECTS[name as SubjectName];
const work = [...WORK, ...LARGE].find((one) => one.title === title);
if (make === undefined || work === undefined) throw new Error(`There is no ${name} or no ${title}`);
const subject = await make();
const isSharing = await selfCheck(name, subject);
console.log(JSON.stringify(work.fits(subject) ? await measure(work, make) : { missing: true }));
process.exit();

async function measure({ passes, warmUp = 1, prepare, measures, bytes }: Work, make: Make): Promise<Outcome> {
  const costs: number[] = [];
  const { operations, run, expected, renew, holds, most } = await prepare(make);
  for (let i = 0; i < passes; i++) {
    if (i > 0) await renew?.();
    collectGarbage();
    const memoryBefore = process.memoryUsage();
    const before = process.cpuUsage();
    const answer = await run();
    const { user, system } = process.cpuUsage(before);
    if (answer !== expected) throw new Error(`${name} answers ${answer} to ${title} instead of ${expected}`);
    if ((await holds?.()) === false) throw new Error(`${name} has not done what ${title} is`);
    if (most !== undefined) return { figure: most(), isSharing };
    if (measures !== undefined) {
      collectGarbage();
      const after = process.memoryUsage();
      const used = (key: 'heapUsed' | 'arrayBuffers' | 'rss') => after[key] - memoryBefore[key];
      const bytes = measures === 'heap' ? used('heapUsed') + used('arrayBuffers') : used('rss');
      return { figure: bytes / operations - expected, isSharing };
    }
    costs.push(((user + system) * 1_000) / operations);
  }
  // The first passes only compiled the code.
  const warm = costs.length > warmUp ? costs.slice(warmUp) : costs;
  const figure = median(warm);
  return { figure: bytes === undefined ? figure : (bytes / figure) * 1_000, isSharing };
}
