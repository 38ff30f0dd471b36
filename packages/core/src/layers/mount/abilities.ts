import type { Capabilities, FileSystem } from '../../file-system.js';
import type { Mounted, Namespace } from './namespace.js';

/** Returns the filesystems that can be changed through the mount, each once. A checkpoint keeps the state of these. */
export function changeableIn(space: Namespace): FileSystem[] {
  return space.fileSystems.filter(({ capabilities }) => capabilities.writes !== false);
}

/**
 * Returns the root if nothing is mounted, else the only filesystem that can be changed, the root included: undefined if
 * none can, if several can, or if the only one is mounted twice. Whether the mount can `diff` depends on this
 * filesystem.
 */
export function onlyChangeable(space: Namespace): Mounted | undefined {
  if (space.all.length === 1) return space.root;
  const mounted = space.all.filter(({ fileSystem }) => fileSystem.capabilities.writes !== false);
  return mounted.length === 1 ? mounted[0] : undefined;
}

/**
 * Returns the filesystems in which a transaction of the mount begins: those that can be changed, or the root for a
 * transaction that only reads.
 */
export function transactedIn(space: Namespace): FileSystem[] {
  const changeable = changeableIn(space);
  return changeable.length > 0 ? changeable : [space.root.fileSystem];
}

/** Returns the only filesystem in which a transaction begins: its transactions and limits are those of the mount. */
export function onlyTransacted(space: Namespace): FileSystem | undefined {
  const [only, ...others] = transactedIn(space);
  return others.length === 0 ? only : undefined;
}

export function capabilitiesOf(space: Namespace): Capabilities {
  const changeable = changeableIn(space);
  const states = (key: keyof Capabilities): boolean =>
    changeable.length > 0 && changeable.every(({ capabilities }) => capabilities[key] === true);
  const all = (key: keyof Capabilities): boolean => space.all.every(({ fileSystem }) => fileSystem.capabilities[key]);
  const only = onlyChangeable(space)?.fileSystem.capabilities;
  const isAlone = space.all.length === 1;
  return Object.freeze({
    checkpoints: states('checkpoints'),
    rollback: states('rollback'),
    at: states('at'),
    diff: only?.diff === true,
    restore: isAlone && only?.restore === true,
    transactions: onlyTransacted(space)?.capabilities.transactions === true,
    forks: all('forks'),
    sharedWatch: all('sharedWatch'),
    writes: changeable.length > 0,
  });
}
