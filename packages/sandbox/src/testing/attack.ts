import type { FileSystem, SyncFileSystem } from '@scratchfs/core';
import { dump } from '@scratchfs/testkit';
import { ALL_PROBES, type Probe, probe, probeSync } from './probes.js';
import { outcomeOf, tell } from './tell.js';
import {
  type Backends,
  CANARY,
  FOREIGN,
  LAYERS,
  LINKS_OUT,
  NESTED,
  OUTSIDE,
  OVERLAID,
  PATTERNS,
  PLAIN,
  POLICIES,
} from './worlds.js';

/** A combination of filesystem, sandbox and layer. */
export interface World {
  readonly backend: string;
  readonly create: Backends[string];
  readonly policy: string;
  readonly layer: string;
}

export function worlds(backends: Backends, layers: readonly string[]): World[] {
  return Object.entries(backends).flatMap(([backend, create]) =>
    Object.keys(POLICIES).flatMap((policy) =>
      layers.flatMap((layer) =>
        // Names that patterns hide are missing for an overlay, which creates files of its own there.
        policy === PATTERNS && layer === OVERLAID ? [] : [{ backend, create, policy, layer }],
      ),
    ),
  );
}

export interface Built {
  /** The underlying filesystem, which must not change and must not be visible to the attacker. */
  readonly beneath: FileSystem;
  /** The attacker's filesystem. */
  readonly fileSystem: FileSystem;
}

export async function build({ create, policy, layer }: World): Promise<Built> {
  const beneath = await create();
  const sandbox = await (POLICIES[policy] as (typeof POLICIES)[string])(beneath);
  return { beneath, fileSystem: (LAYERS[layer] as (typeof LAYERS)[string])(sandbox.fileSystem) };
}

const INSIDE = '/jail/pub/rw/mine.txt';

/** Methods that do not follow the last name: for them a link that leads out is an ordinary name. */
const TAKES_LINKS: readonly string[] = [
  'getEntry',
  'lstat',
  'readlink',
  'watch',
  'mkdir',
  'mkdtemp',
  'rm',
  'unlink',
  'rmdir',
  'cp',
  'rename',
  'symlink',
  'link',
  'lchown',
  'lutimes',
];

/**
 * Tries all probes on paths outside, in both forms, and returns what went wrong: something was read or changed, or
 * existing paths could be told from missing ones.
 */
export async function attack(world: World): Promise<string[]> {
  const built = await build(world);
  const before = tell(await dump(built.beneath));
  // A layer rewords the errors of the lower filesystem.
  const isPlain = world.layer === PLAIN && !(world.policy === NESTED && FOREIGN.includes(world.backend));
  const about = isPlain ? neutral : codeOf;
  const wrong: string[] = [];
  for (const each of ALL_PROBES) {
    for (const text of await attackWith(each, built.fileSystem, about)) wrong.push(text);
    if (tell(await dump(built.beneath)) !== before) return [...wrong, `${titleOf(each)} changed something`];
  }
  return wrong;
}

async function attackWith(each: Probe, fileSystem: FileSystem, about: typeof neutral): Promise<string[]> {
  const wrong: string[] = [];
  const takesLinks = TAKES_LINKS.includes(each.name) || tell([each.args('p', 'i'), each.options]).includes('wx');
  const isSync = fileSystem.kind === 'sync' && each.isPromise !== true;
  for (const pair of takesLinks ? OUTSIDE : [...OUTSIDE, ...LINKS_OUT]) {
    for (const form of isSync ? ['promise', 'sync'] : ['promise']) {
      const outcomes: string[] = [];
      for (const path of pair) {
        const outcome = await outcomeOf(() =>
          form === 'sync'
            ? probeSync(fileSystem as SyncFileSystem, each, path, INSIDE)
            : probe(fileSystem, each, path, INSIDE),
        );
        if (outcome.includes(CANARY)) wrong.push(`${form} ${titleOf(each)} at ${path} tells ${outcome}`);
        outcomes.push(about(outcome, path));
      }
      if (outcomes[0] !== outcomes[1])
        wrong.push(`${form} ${titleOf(each)} at ${pair.join(' is not ')}: ${outcomes.join(' | ')}`);
    }
  }
  return wrong;
}

function titleOf({ name, args, options }: Probe): string {
  return `${name}(${tell([...args('P', 'I'), options])})`;
}

function codeOf(outcome: string): string {
  return /name=\w+, code=\w+/.exec(outcome)?.[0] ?? outcome;
}

/** Returns an outcome without its path, its directory, and the random part of a name. */
function neutral(outcome: string, path: string): string {
  const parent = path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')));
  const about = outcome.replaceAll(path, 'P').replace(/P\/tmp-\w{6}/g, 'P/tmp-X');
  return parent === ''
    ? about
    : about
        .replaceAll(`'${parent}'`, "'PARENT'")
        .replaceAll(/path=([^,}]*)/g, (field, at) => (at === parent ? 'path=PARENT' : field));
}
