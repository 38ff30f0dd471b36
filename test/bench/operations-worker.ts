import { mount, observe, overlay, readonly, restrict } from '@scratchfs/core/layers';
import { createNodeFs } from '@scratchfs/node-fs';
import { createFileSystem } from 'scratchfs';

/**
 * Measures single operations of one group and prints `{ row: nanoseconds of CPU per call }`. It is bundled with the
 * sources of two commits, so it uses only what both have.
 */

const FILES = 1_000;
const WARM_UP_MS = 100;
const BATCH_MS = 30;
const BATCHES = 8;

type Call = (index: number) => unknown;

const bytes = new Uint8Array(1_000).fill(65);
const names = Array.from({ length: FILES }, (_, index) => `/dir-${index % 20}/file-${index}`);
const name = (index: number) => names[index % FILES] as string;

function filled() {
  const fs = createFileSystem();
  for (let index = 0; index < 20; index++) fs.mkdirSync(`/dir-${index}`);
  for (const path of names) fs.writeFileSync(path, bytes);
  return fs;
}

/** Calls that only read, of any object shaped like a synchronous filesystem. */
const reads = (fs: ReturnType<typeof filled>): Record<string, Call> => ({
  statSync: (i) => fs.statSync(name(i)),
  existsSync: (i) => fs.existsSync(name(i)),
  readFileSync: (i) => fs.readFileSync(name(i)),
  readdirSync: (i) => fs.readdirSync(`/dir-${i % 20}`),
});

const writes = (fs: ReturnType<typeof filled>): Record<string, Call> => ({
  writeFileSync: (i) => fs.writeFileSync(name(i), bytes),
  appendFileSync: (i) => {
    fs.appendFileSync(`/log-${i & ~1023}`, 'line\n');
    if ((i & 1023) === 1023) fs.rmSync(`/log-${i & ~1023}`);
  },
  createAndRemove: (i) => {
    fs.writeFileSync(`/new-${i % 512}`, bytes);
    fs.rmSync(`/new-${i % 512}`);
  },
  renameSync: (i) => {
    fs.renameSync(name(i), '/moved');
    fs.renameSync('/moved', name(i));
  },
  mkdirAndRmdir: () => {
    fs.mkdirSync('/made');
    fs.rmdirSync('/made');
  },
  chmodSync: (i) => fs.chmodSync(name(i), 0o600 + (i % 2)),
});

const groups: Record<string, () => Record<string, Call>> = {
  memory: () => {
    const fs = filled();
    return {
      ...reads(fs),
      ...writes(fs),
      checkpointSync: () => fs.dropSync(fs.checkpointSync()),
      writeAfterCheckpoint: (i) => {
        const checkpoint = fs.checkpointSync();
        fs.writeFileSync(name(i), bytes);
        fs.dropSync(checkpoint);
      },
      forkSync: () => fs.forkSync(),
    };
  },
  promises: () => {
    const fs = filled();
    return {
      stat: (i) => fs.stat(name(i)),
      readFile: (i) => fs.readFile(name(i)),
      writeFile: (i) => fs.writeFile(name(i), bytes),
      readdir: (i) => fs.readdir(`/dir-${i % 20}`),
    };
  },
  readonly: () => reads(readonly(filled())),
  restrict: () => {
    const fs = restrict(filled(), { check: () => {}, isVisible: () => true });
    return { ...reads(fs), ...writes(fs) };
  },
  overlay: () => {
    const fs = overlay(filled());
    return { ...reads(fs), ...writes(fs) };
  },
  mount: () => reads(mount(filled(), { '/part': createFileSystem() }) as ReturnType<typeof filled>),
  observe: () => {
    const fs = observe(filled(), () => {});
    return { ...reads(fs), ...writes(fs) };
  },
  node: () => {
    const fs = createNodeFs(filled());
    return {
      statSync: (i) => fs.statSync(name(i)),
      readFileSync: (i) => fs.readFileSync(name(i)),
      writeFileSync: (i) => fs.writeFileSync(name(i), bytes),
      readdirSync: (i) => fs.readdirSync(`/dir-${i % 20}`),
    };
  },
};

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise;

/** Calls for some milliseconds and returns nanoseconds of CPU per call. */
async function batch(call: Call, milliseconds: number, first: number): Promise<{ calls: number; each: number }> {
  const started = process.cpuUsage();
  const end = performance.now() + milliseconds;
  let calls = 0;
  while (performance.now() < end) {
    for (let i = 0; i < 50; i++, calls++) {
      const result = call(first + calls);
      if (isPromise(result)) await result;
    }
  }
  const { user, system } = process.cpuUsage(started);
  return { calls, each: ((user + system) * 1_000) / calls };
}

const group = process.argv[2] as string;
const figures: Record<string, number> = {};
for (const [row, call] of Object.entries(groups[group]?.() ?? {})) {
  let done = (await batch(call, WARM_UP_MS, 0)).calls;
  const batches: number[] = [];
  for (let i = 0; i < BATCHES; i++) {
    const { calls, each } = await batch(call, BATCH_MS, done);
    done += calls;
    batches.push(each);
  }
  // The least disturbed batch: on a shared machine their median varies by a half.
  figures[`${group}.${row}`] = Math.min(...batches);
}
console.log(JSON.stringify(group === undefined ? Object.keys(groups) : figures));
