import { type FileSystem, isFsError, parentPath, quote } from '@scratchfs/core';
import type { CallSequence } from '@scratchfs/core/internal';
import { DenyList } from './deny-list.js';
import { patterns } from './deny-patterns.js';
import { SandboxPermissionEscalationError, type Words } from './errors.js';
import { type Found, find } from './find.js';
import { type Namespace, TOP } from './namespace.js';
import { type Fields, flag, list, optional, type Reader, readObject, Spelling, text } from './plain-data.js';
import { ChildPolicy, DenyPolicy, type Policy } from './policy.js';
import { climbs } from './sandbox-root.js';

/** Access of a child of a sandbox. Without options it has none. */
export interface DeriveOptions {
  /** Paths that may be read; an empty list means none. Default: the writable paths, if they are given. */
  readonly allowRead?: string | readonly string[] | null | undefined;
  /** Paths that may be written; an empty list means none. Default: none if `allowRead` is given. */
  readonly allowWrite?: string | readonly string[] | null | undefined;
  /** True: no writes at all. False: refused if the parent cannot write. */
  readonly readonly?: boolean | null | undefined;
  /** Without lists: start from the parent's access instead of none. Default false. */
  readonly inherit?: boolean | undefined;
  /** Refuse entries that are files, instead of allowing their directory. Default false. */
  readonly strictEntries?: boolean | undefined;
  /** Patterns of paths that are hidden too, in addition to those of the parent, as in {@link SandboxConfig}. */
  readonly deny?: readonly string[] | null | undefined;
}

const entries: Reader<readonly string[]> = (value, field) =>
  typeof value === 'string' ? Object.freeze([text(value, field)]) : list(text)(value, field);

const FIELDS = {
  allowRead: optional(entries),
  allowWrite: optional(entries),
  readonly: optional(flag(false)),
  inherit: flag(false),
  strictEntries: flag(false),
  deny: optional(patterns),
} satisfies Fields;

/** Checked and frozen options of `derive`. */
export type ParsedDeriveOptions = ReturnType<typeof parseDeriveOptions>;

/**
 * Parses a child's access from plain data, as in a worker's definition, with keys in snake_case or in camelCase, not
 * both.
 * @throws TypeError, RangeError that name the field
 */
export function parseDeriveOptions(data: unknown) {
  return readObject(data, 'derive', FIELDS, new Spelling());
}

/** A sandbox as the derivation rules need it. */
export interface Parent extends Words {
  /** Translates an error of the filesystem for the caller. */
  readonly explain: (error: unknown, path: string) => unknown;
  readonly fileSystem: FileSystem;
  readonly namespace: Namespace;
  readonly policy: Policy;
}

/** Returns the policy of a child: what its lists allow, without what its patterns hide. */
export function* childPolicy(parent: Parent, options: ParsedDeriveOptions): CallSequence<Policy> {
  const { deny } = options;
  const policy = yield* allowedPolicy(parent, options);
  return deny === undefined ? policy : new DenyPolicy(policy, new DenyList(deny, parent.namespace.roots));
}

/**
 * Returns the policy of a child's lists. Without lists, the child has no access, or that of its parent with `inherit`.
 * @throws SandboxPermissionEscalationError, and what the filesystem throws
 */
function* allowedPolicy(parent: Parent, options: ParsedDeriveOptions): CallSequence<ChildPolicy> {
  const { allowRead, allowWrite, readonly, inherit, strictEntries } = options;
  if (readonly === false && parent.writableRoots.length === 0) throw readonlyParent(parent);
  const isReadonly = readonly === true;
  const links: string[] = [];
  const resolve = function* (given: readonly string[], right: Right): CallSequence<string[]> {
    const prefixes: string[] = [];
    for (const entry of given) prefixes.push(yield* prefixOf(parent, entry, right, strictEntries, links));
    return prefixes;
  };

  if (allowRead === undefined && allowWrite === undefined) {
    const base = inherit ? undefined : [];
    return new ChildPolicy(parent.policy, base, isReadonly ? [] : base, []);
  }
  const writes = yield* resolve(allowWrite ?? [], isReadonly ? 'any' : 'write');
  const reads = allowRead === undefined ? writes : yield* resolve(allowRead, 'read');
  return new ChildPolicy(parent.policy, reads, isReadonly ? [] : writes, links);
}

type Right = 'read' | 'write' | 'any';

/** Returns the path in the filesystem that an entry of an allow list opens, with everything under it. */
function* prefixOf(
  parent: Parent,
  entry: string,
  right: Right,
  isStrict: boolean,
  links: string[],
): CallSequence<string> {
  const fail = (problem: string, advice = ADVICE): never => {
    throw new SandboxPermissionEscalationError(
      `Cannot create child sandbox with ${FIELD_OF[right]} ${quote(entry)}: ${problem}. Child sandboxes may only restrict access.`,
      parent,
      advice,
    );
  };
  if (climbs(entry, Number.POSITIVE_INFINITY)) fail("the path has '..'", 'Write the path without it.');
  if (!parent.namespace.isEntry(entry)) fail("the path does not start with '/'", `Write it as ${quote(`/${entry}`)}.`);
  const path = parent.namespace.locate(entry);
  if (path === undefined || path === TOP) return fail('the path is outside the parent sandbox');
  const found = yield* findFor(parent, entry, path, () => fail('the path is outside the parent sandbox'));
  const { policy } = parent;
  const allowed = { read: policy.canRead(found.path), write: policy.canWrite(found.path) };
  if (!allowed.read && !allowed.write) fail('the path is outside the parent sandbox');
  if (right !== 'any' && !allowed[right])
    fail(right === 'write' ? 'the parent may not write there' : 'the parent may not read there');
  if (found.path !== path) links.push(path);
  if (found.kind !== 'file') return found.path;
  if (isStrict) fail('it is a file, and entries have to be directories', 'Give the directory that holds the file.');
  return parentPath(found.path);
}

/** Returns where an entry leads. Calls `refuse` if the filesystem of the parent denies access to it. */
function* findFor(
  { explain, fileSystem }: Parent,
  entry: string,
  path: string,
  refuse: () => never,
): CallSequence<Found> {
  try {
    return yield* find(fileSystem, path);
  } catch (error) {
    if (isFsError(error, 'EACCES')) return refuse();
    throw explain(error, entry);
  }
}

const FIELD_OF = { read: 'allowRead', write: 'allowWrite', any: 'allowWrite' } as const satisfies Record<Right, string>;
const ADVICE = 'Ask for paths among those of the parent, or leave the entry out.';

function readonlyParent(parent: Words): SandboxPermissionEscalationError {
  return new SandboxPermissionEscalationError(
    'Cannot create child sandbox with readonly=False: parent sandbox is readonly. Child sandboxes may only restrict access.',
    parent,
    'Requested: readonly: false. Leave readonly out, or say readonly: true.',
  );
}
