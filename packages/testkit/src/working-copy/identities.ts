import type { FileSystem } from '@scratchfs/core';
import { printBytes } from '../outcome.js';

/** Data of a node that must be equal on both sides. A directory has no times: they follow from its names. */
interface NodeState {
  readonly isDirectory: boolean;
  readonly value: string;
  readonly times: string;
}

/** A complete state by identities: the nodes that names lead to, and their data. */
export interface Identities {
  /** The number of each node by `directory/name`, where `directory` is a number too. */
  readonly names: ReadonlyMap<string, number>;
  readonly nodes: ReadonlyMap<number, NodeState>;
}

/** Reads a state. A directory that was created again under its name since `base` gets the number of the old one. */
export async function identitiesOf(fileSystem: FileSystem, base?: Identities): Promise<Identities> {
  const found: { path: string; name: string; ino: number; state: NodeState }[] = [];
  for await (const info of fileSystem.walk('/')) {
    const stat = await fileSystem.lstat(info.path);
    const { mode, uid, gid, modifiedAt, accessedAt } = info;
    const held =
      info.kind === 'file'
        ? printBytes(await fileSystem.readFile(info.path))
        : info.kind === 'symlink'
          ? info.target
          : '';
    const state = {
      isDirectory: info.isDirectory,
      value: JSON.stringify([info.kind, mode, uid, gid, held]),
      times: JSON.stringify([modifiedAt, accessedAt]),
    };
    found.push({ path: info.path, name: info.name, ino: stat.ino, state });
  }
  const root = await fileSystem.getEntry('/');
  const names = new Map<string, number>();
  const nodes = new Map<number, NodeState>();
  nodes.set(0, { isDirectory: true, value: JSON.stringify([root.mode, root.uid, root.gid]), times: '' });
  const own = new Set(found.map(({ ino }) => ino));
  const numbers = new Map<string, number>([['/', 0]]);
  for (const { path, name, ino, state } of found) {
    const parent = numbers.get(path.slice(0, path.lastIndexOf('/')) || '/') as number;
    const key = `${parent}/${name}`;
    const before = base?.names.get(key);
    const isRemade =
      state.isDirectory &&
      before !== undefined &&
      base?.nodes.get(before)?.isDirectory === true &&
      !own.has(before) &&
      !base.nodes.has(ino);
    const number = isRemade ? before : ino;
    numbers.set(path, number);
    names.set(key, number);
    nodes.set(number, state.isDirectory ? { ...state, times: '' } : state);
  }
  return { names, nodes };
}

/**
 * Merges the changes of two sides entry by entry; undefined if they changed the same entry in different ways, or if the
 * result is not a tree.
 */
export function mergeIdentities(base: Identities, ours: Identities, theirs: Identities): Identities | undefined {
  const names = new Map<string, number>();
  for (const key of new Set([...base.names.keys(), ...ours.names.keys(), ...theirs.names.keys()])) {
    const [b, o, t] = [base.names.get(key), ours.names.get(key), theirs.names.get(key)];
    if (o !== t && o !== b && t !== b) return undefined;
    const result = o === b ? t : o;
    if (result !== undefined) names.set(key, result);
  }
  const nodes = new Map<number, NodeState>([[0, base.nodes.get(0) as NodeState]]);
  for (const id of new Set([...base.nodes.keys(), ...ours.nodes.keys(), ...theirs.nodes.keys()])) {
    const state = mergeNode(base.nodes.get(id), ours.nodes.get(id), theirs.nodes.get(id));
    if (state === 'conflict') return undefined;
    if (state !== undefined) nodes.set(id, state);
  }
  return isTree(names, nodes) && !movedTwice(base, ours, theirs) ? { names, nodes } : undefined;
}

function mergeNode(
  base: NodeState | undefined,
  ours: NodeState | undefined,
  theirs: NodeState | undefined,
): NodeState | 'conflict' | undefined {
  if (isSame(ours, base)) return theirs;
  if (isSame(theirs, base)) return ours;
  if (ours === undefined || theirs === undefined) return ours === theirs ? undefined : 'conflict';
  return ours.value === theirs.value ? theirs : 'conflict';
}

function isSame(a: NodeState | undefined, b: NodeState | undefined): boolean {
  return a?.value === b?.value && a?.times === b?.times;
}

/**
 * Checks that every name is in a directory with exactly one name, up to the root, and leads to a node, and that every
 * node has a name.
 */
function isTree(names: ReadonlyMap<string, number>, nodes: ReadonlyMap<number, NodeState>): boolean {
  const parents = new Map<number, number>();
  const named = new Set<number>([0]);
  for (const [key, id] of names) {
    const parent = Number(key.slice(0, key.indexOf('/')));
    const node = nodes.get(id);
    if (node === undefined || nodes.get(parent)?.isDirectory !== true) return false;
    if (node.isDirectory && named.has(id)) return false;
    named.add(id);
    if (node.isDirectory) parents.set(id, parent);
  }
  for (const id of nodes.keys()) {
    if (!named.has(id)) return false;
  }
  for (const id of parents.keys()) {
    let steps = 0;
    for (let at = id; at !== 0; at = parents.get(at) as number) {
      steps += 1;
      if (steps > parents.size || !parents.has(at)) return false;
    }
  }
  return true;
}

/** Returns true if both sides removed one name of a node and gave it different new ones. */
function movedTwice(base: Identities, ours: Identities, theirs: Identities): boolean {
  const gained = (side: Identities): Map<number, string[]> => {
    const map = new Map<number, string[]>();
    for (const [key, id] of side.names) {
      if (base.nodes.has(id) && base.names.get(key) !== id) map.set(id, [...(map.get(id) ?? []), key]);
    }
    return map;
  };
  const theirGains = gained(theirs);
  for (const [id, keys] of gained(ours)) {
    const others = theirGains.get(id);
    if (others === undefined || keys.every((key) => others.includes(key))) continue;
    for (const [key, before] of base.names)
      if (before === id && ours.names.get(key) !== id && theirs.names.get(key) !== id) return true;
  }
  return false;
}

/** Returns the differences as text; empty if there are none. */
export function differencesOf(a: Identities, b: Identities): string[] {
  const lines: string[] = [];
  for (const key of new Set([...a.names.keys(), ...b.names.keys()]))
    if (a.names.get(key) !== b.names.get(key)) lines.push(`${key}: ${a.names.get(key)} | ${b.names.get(key)}`);
  for (const id of new Set([...a.nodes.keys(), ...b.nodes.keys()])) {
    const [x, y] = [a.nodes.get(id), b.nodes.get(id)];
    if (!isSame(x, y)) lines.push(`${id}: ${x?.value} ${x?.times} | ${y?.value} ${y?.times}`);
  }
  return lines;
}
