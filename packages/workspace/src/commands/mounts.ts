import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Binding, gitMounts, INSIDE, isOpenToAll, type Scratch, toolchainOf } from '@scratchfs/host/internal';

type Mount = Binding | Scratch;

/**
 * Maximum number of entries that are mounted one by one: the time for mounting grows with the square of their number.
 */
const MAX_SINGLE_MOUNTS = 500;
/** Maximum bytes that a command can write in each dependency directory beside its entries, such as caches. */
const SCRATCH_BYTES = 2 ** 29;

/** Account files for programs that look up the name of their user. */
const ACCOUNTS = {
  passwd: 'nobody:x:65534:65534:nobody:/tmp:/bin/sh\n',
  group: 'nogroup:x:65534:\n',
};

/** Paths that a command sees, its files and others, with their places in the sandbox. */
export interface CommandMounts {
  readonly mounts: readonly Mount[];
  /** Value of PATH. */
  readonly path: string;
  /** Dependencies and repositories that are left out, because commands of root run as a user who cannot reach them. */
  readonly unreachable: readonly string[];
}

export interface MountedPaths {
  readonly dependencies: readonly string[];
  readonly repositories: readonly string[];
}

/**
 * Returns the mounts of a command. In a dependency directory existing entries are read-only, and new ones, such as
 * `node_modules/.cache`, last until the command ends. If there are too many entries to mount one by one, the directory
 * is read-only as a whole.
 *
 * @param directory the user's directory
 * @param files the copy of its files
 * @param scratch directory for files that are made for the mounts
 */
export async function mountsOf(
  directory: string,
  { dependencies, repositories }: MountedPaths,
  { files, scratch, path }: { readonly files: string; readonly scratch: string; readonly path: string | undefined },
): Promise<CommandMounts> {
  const mounts: Mount[] = [{ host: files, inside: INSIDE, isWritable: true }];
  const unreachable: string[] = [];
  // A command of root runs as nobody.
  const isReachable = process.getuid?.() !== 0 || isOpenToAll(directory);
  let room = MAX_SINGLE_MOUNTS;
  for (const one of isReachable ? dependencies : []) {
    const host = join(directory, one);
    const inside = join(INSIDE, one);
    const names = readdirSync(host);
    if (names.length > room) {
      mounts.push({ host, inside, isWritable: false });
      continue;
    }
    room -= names.length;
    mounts.push({ inside, bytes: SCRATCH_BYTES });
    for (const name of names) mounts.push({ host: join(host, name), inside: join(inside, name), isWritable: false });
  }
  for (const one of isReachable ? repositories : [])
    mounts.push(...(await gitMounts(join(directory, one), join(INSIDE, one), scratch)));
  if (!isReachable) unreachable.push(...dependencies, ...repositories);
  for (const [name, text] of Object.entries(ACCOUNTS)) {
    const host = join(scratch, name);
    writeFileSync(host, text, { mode: 0o644 });
    mounts.push({ host, inside: `/etc/${name}`, isWritable: false });
  }
  const toolchain = toolchainOf(path, directory);
  return { mounts: [...toolchain.mounts, ...mounts], path: toolchain.path, unreachable };
}
