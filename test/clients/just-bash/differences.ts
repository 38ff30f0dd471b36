/** A difference between just-bash and bash, which exists on just-bash's own filesystem too. */
export interface Difference {
  readonly in: 'stdout' | 'stderr' | 'tree';
  /** Text of bash, and the text of just-bash instead. */
  readonly bash: string;
  readonly justBash: string;
  readonly why: string;
}

const enoentOfTheTarget = 'any ENOENT is said of the source';
const codeInTheMessage = 'what its own filesystem never refuses it says with the code and the path of the error';

/** Script → its differences from bash. An entry that no longer holds fails the test. */
export const differences: Readonly<Record<string, readonly Difference[]>> = {
  'pipes and redirects': [
    { in: 'tree', bash: "ls: cannot access 'none'", justBash: 'ls: none', why: 'its ls words it so' },
  ],
  sed: [{ in: 'stdout', bash: 'exit 2', justBash: 'exit 1', why: 'its sed answers 1 for a missing file' }],
  'mv over things': [
    { in: 'stdout', bash: 'c\nc\na\nexit 1', justBash: 'c\nc\na\nexit 0', why: 'mv onto itself is no error' },
    {
      in: 'stderr',
      bash: "mv: cannot move 'full' to 'empty/full': Directory not empty",
      justBash: "mv: cannot move 'full': ENOTEMPTY: directory not empty, rename './full' -> './empty/full'",
      why: codeInTheMessage,
    },
    {
      in: 'stderr',
      bash: "mv: cannot move 'full' to a subdirectory of itself, 'full/sub'",
      justBash: "mv: cannot move 'full' into itself, './full/sub'",
      why: 'its mv words it so',
    },
    {
      in: 'stderr',
      bash: "mv: cannot move 'c' to 'none/c'",
      justBash: "mv: cannot stat 'c'",
      why: enoentOfTheTarget,
    },
    {
      in: 'stderr',
      bash: "mv: cannot overwrite non-directory 'c' with directory 'dir'",
      justBash: "mv: cannot move 'dir': ENOTDIR: not a directory, rename './dir' -> './c'",
      why: codeInTheMessage,
    },
    { in: 'stderr', bash: "mv: 'c' and 'c' are the same file\n", justBash: '', why: 'mv onto itself is no error' },
  ],
  'cp over things': [
    { in: 'stdout', bash: 'a\nc\ndir\ns\n', justBash: 'a\nc\ns\n', why: 'cp into itself is refused before it begins' },
    {
      in: 'tree',
      bash: ' "/dir/sub/dir": "directory 755",\n "/dir/sub/dir/sub": "directory 755",\n "/dir/sub/dir/sub/s": "file 644 \\"s\\\\n\\"",\n',
      justBash: '',
      why: 'cp into itself is refused before it begins',
    },
    {
      in: 'stderr',
      bash: "cp: cannot create regular file 'none/x'",
      justBash: "cp: cannot stat 'a'",
      why: enoentOfTheTarget,
    },
    { in: 'stderr', bash: "'a' and 'a' are", justBash: "'a' and './a' are", why: 'its cp names the whole path' },
    {
      in: 'stderr',
      bash: "cannot copy a directory, 'dir', into itself, 'dir/sub/dir'",
      justBash: "cannot copy 'dir' into itself, './dir/sub/dir'",
      why: 'its cp words it so',
    },
  ],
  mkdir: [
    { in: 'stdout', bash: 'a/ said/', justBash: 'a f said', why: 'its glob takes */ for *' },
    {
      in: 'stderr',
      bash: "directory 'f': Not a directory",
      justBash: "directory 'f/g': ENOTDIR: not a directory, mkdir './f/g'",
      why: codeInTheMessage,
    },
  ],
  'ls and du': [
    {
      in: 'stdout',
      bash: 'exit 2\nd:\ne\nfive\n',
      justBash: 'exit 2\nd:\ne\nfive\n\n',
      why: 'its ls ends so with an error',
    },
  ],
  'xargs, tee and command substitution': [
    { in: 'stdout', bash: 'got c d', justBash: 'got c\ngot d', why: 'its xargs -I takes words, not lines' },
  ],
  'a redirect into a directory that is not there': [
    { in: 'stdout', bash: 'exit 1\n', justBash: 'exit 0\nmissing\n', why: 'writing makes the directory' },
    {
      in: 'stderr',
      bash: 'bash: missing/file: No such file or directory\n',
      justBash: '',
      why: 'writing makes the directory',
    },
    {
      in: 'tree',
      bash: '{}',
      justBash: '{\n "/missing": "directory 755",\n "/missing/file": "file 644 \\"x\\\\n\\""\n}',
      why: 'writing makes the directory: a refusal would make exec() reject, and the rest of the script not run',
    },
  ],
  'a file in the place of a directory': [
    {
      in: 'stderr',
      bash: 'cat: file/inside: Not a directory',
      justBash: 'cat: file/inside: No such file or directory',
      why: 'its cat says so of every error',
    },
    {
      in: 'stderr',
      bash: "ls: cannot access 'file/inside': Not a directory",
      justBash: 'ls: file/inside: No such file or directory',
      why: 'its ls says so of every error',
    },
    {
      in: 'stderr',
      bash: "mkdir: cannot create directory 'file/inside': Not a directory",
      justBash: "mkdir: cannot create directory 'file/inside': ENOTDIR: not a directory, mkdir './file/inside'",
      why: codeInTheMessage,
    },
    {
      in: 'stderr',
      bash: "cp: cannot stat 'file/inside': Not a directory",
      justBash: "cp: cannot safely determine whether 'file' and './file/inside' are the same file",
      why: 'it asks first whether both are one file, and takes ENOTDIR for not knowing',
    },
    {
      in: 'stderr',
      bash: "mv: cannot stat 'file/inside': Not a directory",
      justBash: "mv: cannot safely determine whether 'file' and './file/inside' are the same file",
      why: 'it asks first whether both are one file, and takes ENOTDIR for not knowing',
    },
    {
      in: 'stderr',
      bash: 'cat: .: Is a directory',
      justBash: 'cat: .: No such file or directory',
      why: 'its cat says so of every error',
    },
  ],
};
