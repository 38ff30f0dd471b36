import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GitDirectory, type GitObject, History, type ObjectId } from '@scratchfs/history';
import { createFileSystem, type SyncFileSystem } from 'scratchfs';
import { git } from './git-cli.js';

/**
 * Writes a random history, has git check all its objects and ids, then flips one random bit in each byte of 40 objects:
 * no flip may lead to other content. Arguments of this file: the number of commits (default 10,000) and a seed. Run it
 * by `npm run campaign -- history/long [share] [seed]`.
 */
const commits = Number(process.argv[2] ?? 10_000);
let seed = Number(process.argv[3] ?? 1);

function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return Math.floor((seed / 0x80000000) * below);
}

const NAMES = ['a', 'b.txt', 'ä', 'ü b', '日本', 'x-y', 'A', '__proto__', 'file with spaces', '.dot', 'z😀'];
const TEXTS = ['', 'x', 'one\r\ntwo\r\n', 'no end', '\u0000binary\u0000', 'line\n'.repeat(50)];

function change(fs: SyncFileSystem): void {
  const directory = `/${Array.from({ length: random(4) }, () => `d${random(5)}`).join('/')}`.replace(/\/$/, '') || '/';
  const path = `${directory === '/' ? '' : directory}/${NAMES[random(NAMES.length)]}`;
  if (!fs.existsSync(directory)) fs.mkdirSync(directory, { recursive: true });
  fs.rmSync(path, { recursive: true, force: true });
  const kind = random(10);
  if (kind < 6)
    fs.writeFileSync(path, `${TEXTS[random(TEXTS.length)]}${random(1_000)}`, { mode: random(5) === 0 ? 0o755 : 0o644 });
  else if (kind < 8) fs.symlinkSync(['a', '../b.txt', '/d1/ä'][random(3)] as string, path);
}

function toDisk(disk: SyncFileSystem, folder: string): void {
  for (const { path, kind } of disk.walkSync('/')) {
    mkdirSync(kind === 'directory' ? join(folder, path) : dirname(join(folder, path)), { recursive: true });
    if (kind === 'file') writeFileSync(join(folder, path), disk.readFileSync(path));
  }
}

function replace(disk: SyncFileSystem, path: string, bytes: Uint8Array): void {
  disk.rmSync(path);
  disk.writeFileSync(path, bytes);
}

/** Reads an object as its type, which checks its hash. */
async function readAs(history: History, type: GitObject['type'], id: ObjectId): Promise<unknown> {
  if (type === 'blob') return history.readBlob(id);
  if (type === 'commit') return history.show(id);
  return history.list(id).next();
}

const folder = mkdtempSync(join(tmpdir(), 'scratchfs-history-'));
try {
  const disk = createFileSystem();
  const history = new History({
    repository: await GitDirectory.init(disk, { path: '/' }),
    clock: () => 1_700_000_000_000,
  });
  const fs = createFileSystem();
  const ids: ObjectId[] = [];
  for (let i = 0; i < commits; i++) {
    for (let edits = 1 + random(4); edits > 0; edits--) change(fs);
    const parents = [ids.at(-1), random(20) === 0 ? ids[random(ids.length)] : undefined];
    const known = [...new Set(parents.filter((id) => id !== undefined))];
    ids.push(
      await history.commit(fs, {
        message: `commit ${i} ${NAMES[random(NAMES.length)]}`,
        parents: known,
        branch: 'main',
      }),
    );
  }
  toDisk(disk, folder);
  console.log(`fsck --strict: ${git(folder, ['fsck', '--strict', '--full', '--no-dangling']) || 'nothing wrong'}`);
  const theirs = new Set(git(folder, ['rev-list', 'main']).split('\n'));
  const trees = git(folder, ['log', '--format=%H %T', 'main']).split('\n');
  let equal = 0;
  for (const line of trees) {
    const [id, tree] = line.split(' ') as [string, string];
    if ((await history.show(id)).tree === tree) equal += 1;
  }
  console.log(
    `commits: ${ids.length}; in git's list: ${ids.filter((id) => theirs.has(id)).length}; with equal trees: ${equal}`,
  );
  // git rebuilds the trees of some commits from their files alone.
  for (let i = 0; i < 20; i++) {
    const id = ids[random(ids.length)] as string;
    git(folder, ['--work-tree', folder, 'read-tree', id]);
    if (git(folder, ['write-tree']) !== (await history.show(id)).tree) throw new Error(`git gives ${id} another tree`);
  }
  const files = [...disk.walkSync('/objects')].filter(({ kind, path }) => kind === 'file' && path.length > 30);
  const outcomes = { found: 0, 'same bytes read': 0, missed: 0 };
  for (let i = 0; i < 40; i++) {
    const { path } = files[random(files.length)] as (typeof files)[number];
    const id = path.slice('/objects/'.length).replace('/', '') as ObjectId;
    const bytes = disk.readFileSync(path);
    const object = (await history.repository.read(id)) as GitObject;
    for (let at = 0; at < bytes.length; at++) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] as number) ^ (1 << random(8));
      replace(disk, path, damaged);
      const read = await readAs(history, object.type, id).catch(() => undefined);
      // Some bits of a compressed stream carry no information.
      if (read === undefined) outcomes.found += 1;
      else if (Buffer.compare((await history.repository.read(id))?.body ?? new Uint8Array(), object.body) === 0)
        outcomes['same bytes read'] += 1;
      else outcomes.missed += 1;
    }
    replace(disk, path, bytes);
  }
  console.log('bits flipped:', outcomes);
  if (equal !== ids.length || outcomes.missed > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
