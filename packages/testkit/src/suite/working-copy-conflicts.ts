import type { SyncFileSystem } from '@scratchfs/core';

/**
 * Changes of two sides to one tree, the conflicts that a merge must report, and what a pull that prefers a side leaves.
 */
export interface ConflictCase {
  readonly what: string;
  readonly ours: (fs: SyncFileSystem) => void;
  readonly theirs: (fs: SyncFileSystem) => void;
  /** Expected conflicts, each as its path, our change and their change; sorted. */
  readonly conflicts: readonly string[];
  /**
   * Expected state of some paths after a pull that prefers one side: content, null for a directory, undefined for an
   * absent entry.
   */
  readonly preferOurs?: Readonly<Record<string, string | null | undefined>>;
  readonly preferTheirs?: Readonly<Record<string, string | null | undefined>>;
}

const write =
  (path: string, text: string) =>
  (fs: SyncFileSystem): void =>
    fs.writeFileSync(path, text);
const remove =
  (path: string) =>
  (fs: SyncFileSystem): void =>
    fs.rmSync(path, { recursive: true });
const move =
  (from: string, to: string) =>
  (fs: SyncFileSystem): void =>
    fs.renameSync(from, to);

export const CONFLICT_CASES: readonly ConflictCase[] = [
  {
    what: 'both edit a file',
    ours: write('/src/b', 'ours'),
    theirs: write('/src/b', 'theirs'),
    conflicts: ['/src/b modified modified'],
    preferOurs: { '/src/b': 'ours' },
    preferTheirs: { '/src/b': 'theirs' },
  },
  { what: 'both edit a file alike', ours: write('/src/b', 'same'), theirs: write('/src/b', 'same'), conflicts: [] },
  {
    what: 'one edits a file, the other its mode',
    ours: write('/src/b', 'ours'),
    theirs: (fs) => fs.chmodSync('/src/b', 0o777),
    conflicts: ['/src/b modified modified'],
    preferOurs: { '/src/b': 'ours' },
    preferTheirs: { '/src/b': 'content of b' },
  },
  {
    what: 'we remove what they edit',
    ours: remove('/src/b'),
    theirs: write('/src/b', 'theirs'),
    conflicts: ['/src/b removed modified'],
    preferOurs: { '/src/b': undefined },
    preferTheirs: { '/src/b': 'theirs' },
  },
  {
    what: 'they remove what we edit',
    ours: write('/src/b', 'ours'),
    theirs: remove('/src/b'),
    conflicts: ['/src/b modified removed'],
    preferOurs: { '/src/b': 'ours' },
    preferTheirs: { '/src/b': undefined },
  },
  {
    what: 'we remove a directory in which they edit',
    ours: remove('/src'),
    theirs: write('/src/deep/c', 'theirs'),
    conflicts: ['/src/deep/c removed modified'],
    preferOurs: { '/src': undefined },
    preferTheirs: { '/src/deep/c': 'theirs', '/src/b': undefined },
  },
  {
    what: 'they remove a directory in which we edit',
    ours: write('/src/deep/c', 'ours'),
    theirs: remove('/src'),
    conflicts: ['/src/deep/c modified removed'],
    preferOurs: { '/src/deep/c': 'ours', '/src/b': undefined },
    preferTheirs: { '/src': undefined },
  },
  {
    what: 'we remove a directory into which they put something',
    ours: remove('/src'),
    theirs: write('/src/deep/new', 'theirs'),
    conflicts: ['/src/deep/new removed added'],
    preferOurs: { '/src': undefined },
    preferTheirs: { '/src/deep/new': 'theirs', '/src/b': undefined },
  },
  {
    what: 'they remove a directory into which we put something',
    ours: (fs) => fs.mkdirSync('/src/deep/more/and/more', { recursive: true }),
    theirs: remove('/src'),
    conflicts: ['/src/deep/more added removed'],
    preferOurs: { '/src/deep/more/and/more': null, '/src/b': undefined },
    preferTheirs: { '/src': undefined },
  },
  {
    what: 'we remove a directory out of which they move something',
    ours: remove('/src'),
    theirs: move('/src/b', '/docs/b'),
    conflicts: ['/docs/b removed renamed'],
    preferOurs: { '/src': undefined, '/docs/b': undefined },
    preferTheirs: { '/docs/b': 'content of b' },
  },
  { what: 'both remove a file', ours: remove('/src/b'), theirs: remove('/src/b'), conflicts: [] },
  { what: 'both remove a directory', ours: remove('/src'), theirs: remove('/src'), conflicts: [] },
  {
    what: 'one removes a directory, the other a file in it',
    ours: remove('/src'),
    theirs: remove('/src/deep/c'),
    conflicts: [],
  },
  {
    what: 'both make a file',
    ours: write('/new', 'ours'),
    theirs: write('/new', 'theirs'),
    conflicts: ['/new added added'],
    preferOurs: { '/new': 'ours' },
    preferTheirs: { '/new': 'theirs' },
  },
  { what: 'both make the same file', ours: write('/new', 'same'), theirs: write('/new', 'same'), conflicts: [] },
  {
    what: 'both make a directory, and put different files into it',
    ours: (fs) => {
      fs.mkdirSync('/out/deep', { recursive: true });
      fs.writeFileSync('/out/deep/ours', 'ours');
      fs.writeFileSync('/out/both', 'same');
    },
    theirs: (fs) => {
      fs.mkdirSync('/out/deep', { recursive: true });
      fs.writeFileSync('/out/deep/theirs', 'theirs');
      fs.writeFileSync('/out/both', 'same');
    },
    conflicts: [],
  },
  {
    what: 'both make a directory with a file of one name in it',
    ours: (fs) => {
      fs.mkdirSync('/out');
      fs.writeFileSync('/out/both', 'ours');
      fs.writeFileSync('/out/ours', 'ours');
    },
    theirs: (fs) => {
      fs.mkdirSync('/out');
      fs.writeFileSync('/out/both', 'theirs');
      fs.writeFileSync('/out/theirs', 'theirs');
    },
    conflicts: ['/out/both added added'],
    preferOurs: { '/out/both': 'ours', '/out/ours': 'ours', '/out/theirs': 'theirs' },
    preferTheirs: { '/out/both': 'theirs', '/out/ours': 'ours', '/out/theirs': 'theirs' },
  },
  {
    what: 'one makes a file, the other a directory of that name',
    ours: write('/new', 'ours'),
    theirs: (fs) => fs.mkdirSync('/new/deep', { recursive: true }),
    conflicts: ['/new added added'],
    preferOurs: { '/new': 'ours' },
    preferTheirs: { '/new/deep': null },
  },
  {
    what: 'one renames a directory, the other changes, adds and removes in it',
    ours: move('/src', '/lib'),
    theirs: (fs) => {
      fs.writeFileSync('/src/b', 'theirs');
      fs.writeFileSync('/src/deep/new', 'new');
      fs.rmSync('/src/deep/c');
    },
    conflicts: [],
  },
  {
    what: 'they rename a directory, we change, add and remove in it',
    ours: (fs) => {
      fs.writeFileSync('/src/b', 'ours');
      fs.writeFileSync('/src/deep/new', 'new');
      fs.rmSync('/src/deep/c');
    },
    theirs: move('/src', '/lib'),
    conflicts: [],
  },
  {
    what: 'one renames a file that the other edits',
    ours: move('/src/b', '/c'),
    theirs: write('/src/b', 'theirs'),
    conflicts: [],
  },
  {
    what: 'one edits a file that the other renames',
    ours: write('/src/b', 'ours'),
    theirs: move('/src/b', '/c'),
    conflicts: [],
  },
  {
    what: 'both rename a directory alike',
    ours: move('/src', '/lib'),
    theirs: move('/src', '/lib'),
    conflicts: [],
  },
  {
    what: 'both rename a directory, to different names',
    ours: move('/src', '/ours'),
    theirs: move('/src', '/theirs'),
    conflicts: ['/ours renamed renamed'],
    preferOurs: { '/ours/b': 'content of b', '/theirs': undefined },
    preferTheirs: { '/theirs/b': 'content of b', '/ours': undefined },
  },
  {
    what: 'both rename a file, to different names',
    ours: move('/src/b', '/ours'),
    theirs: move('/src/b', '/theirs'),
    conflicts: ['/ours renamed renamed'],
    preferOurs: { '/ours': 'content of b', '/theirs': undefined },
    preferTheirs: { '/theirs': 'content of b', '/ours': undefined },
  },
  {
    what: 'both give one name to different things',
    ours: move('/src/b', '/both'),
    theirs: move('/docs/d', '/both'),
    conflicts: ['/both renamed renamed'],
    preferOurs: { '/both': 'content of b', '/docs/d': '' },
    preferTheirs: { '/both': '', '/src/b': 'content of b' },
  },
  {
    what: 'each puts a directory into the other one',
    ours: move('/src', '/docs/src'),
    theirs: move('/docs', '/src/docs'),
    conflicts: ['/docs/src renamed renamed'],
    preferOurs: { '/docs/src/b': 'content of b', '/src': undefined },
    preferTheirs: { '/src/docs/d': '', '/docs': undefined },
  },
  {
    what: 'each takes one of the two names of a file away',
    ours: remove('/src/a'),
    theirs: remove('/docs/hard'),
    conflicts: ['/src/a removed removed'],
    preferOurs: { '/src/a': undefined, '/docs/hard': 'content of a' },
    preferTheirs: { '/src/a': 'content of a', '/docs/hard': undefined },
  },
  {
    what: 'each gives a file another name',
    ours: (fs) => fs.linkSync('/src/b', '/ours'),
    theirs: (fs) => fs.linkSync('/src/b', '/theirs'),
    conflicts: [],
  },
  {
    what: 'both change the mode of a directory',
    ours: (fs) => fs.chmodSync('/src', 0o700),
    theirs: (fs) => fs.chmodSync('/src', 0o777),
    conflicts: ['/src modified modified'],
    preferOurs: { '/src': null },
    preferTheirs: { '/src': null },
  },
  {
    what: 'both put something into one directory',
    ours: write('/src/ours', 'ours'),
    theirs: write('/src/theirs', 'theirs'),
    conflicts: [],
  },
  {
    what: 'a conflict leaves the rest of a merge out',
    ours: (fs) => {
      fs.writeFileSync('/src/b', 'ours');
      fs.writeFileSync('/ours', 'ours');
    },
    theirs: (fs) => {
      fs.writeFileSync('/src/b', 'theirs');
      fs.writeFileSync('/theirs', 'theirs');
    },
    conflicts: ['/src/b modified modified'],
    preferOurs: { '/src/b': 'ours', '/ours': 'ours', '/theirs': 'theirs' },
    preferTheirs: { '/src/b': 'theirs', '/ours': 'ours', '/theirs': 'theirs' },
  },
];
