import { createFileSystem } from 'scratchfs';
import { arrive } from './chapters/arrive.js';
import { attempts } from './chapters/attempts.js';
import { changes } from './chapters/changes.js';
import { folder as backToFolder } from './chapters/folder.js';
import { quota } from './chapters/quota.js';
import { risk } from './chapters/risk.js';
import { save } from './chapters/save.js';
import { share } from './chapters/share.js';
import { versions } from './chapters/versions.js';
import { work } from './chapters/work.js';
import { workspace } from './chapters/workspace.js';
import { Report } from './report.js';
import type { Terminal } from './terminal.js';

export interface StoryOptions {
  /** The source tree to load. */
  readonly folder: string;
  readonly terminal: Terminal;
  /** Creates the filesystem; a test passes one that breaks its promises. */
  readonly create?: typeof createFileSystem;
  /** URL of a shared storage, which gets its own chapter. */
  readonly storage?: string | undefined;
}

/** Runs the whole demo. Returns the number of false claims. */
export async function tell({ folder, terminal, create = createFileSystem, storage }: StoryOptions): Promise<number> {
  const started = performance.now();
  const report = new Report(terminal);
  const stage = await arrive(folder, report, create);
  const workshop = await work(stage);
  await risk(workshop);
  const kept = await attempts(workshop);
  await changes(stage.fs, kept, report);
  await backToFolder(stage.fs, kept, report);
  await workspace(stage.fs, kept, report);
  await versions(folder, report);
  await quota(kept.fs, report);
  await save(kept.fs, report);
  if (storage !== undefined) await share(kept.fs, storage, report);
  report.summary(performance.now() - started);
  await kept.fs.close();
  await stage.fs.close();
  return report.brokenClaims;
}
