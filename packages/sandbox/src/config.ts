import { checkName, quote } from '@scratchfs/core';
import { patterns } from './deny-patterns.js';
import {
  describe,
  entriesOf,
  type Fields,
  flag,
  list,
  oneOf,
  optional,
  type Read,
  type Reader,
  readObject,
  Spelling,
  text,
  wholeNumber,
} from './plain-data.js';

/** A directory that becomes `/` of the sandbox. */
export interface RootSandboxConfig {
  /** A directory of the filesystem, absolute or relative to `basePath`. */
  readonly root: string;
  /** No writes anywhere. Default false. */
  readonly readonly?: boolean | undefined;
  /**
   * Suffixes of the files that may be read and written, such as `.md`; `''` means files without a suffix. Default: all.
   */
  readonly suffixes?: readonly string[] | null | undefined;
  /** The largest file that may be read, in bytes. Default: no limit. */
  readonly maxFileBytes?: number | null | undefined;
  /** Each read needs approval. Default false. */
  readonly readApproval?: boolean | undefined;
  /** Each write needs approval. Default true. */
  readonly writeApproval?: boolean | undefined;
}

/** A directory mounted under a name. */
export interface PathConfig {
  /** A directory of the filesystem, absolute or relative to `basePath`. */
  readonly root: string;
  /** `rw` allows writes too. Default `ro`. */
  readonly mode?: 'ro' | 'rw' | undefined;
  /**
   * Suffixes of the files that may be read and written, such as `.md`; `''` means files without a suffix. Default: all.
   */
  readonly suffixes?: readonly string[] | null | undefined;
  /** The largest file that may be read, in bytes. Default: no limit. */
  readonly maxFileBytes?: number | null | undefined;
  /** Each read needs approval. Default false. */
  readonly readApproval?: boolean | undefined;
  /** Each write needs approval. Default true. */
  readonly writeApproval?: boolean | undefined;
}

interface Surroundings {
  /** Commands may use the network. Default false. */
  readonly network?: boolean | undefined;
  /** Commands are refused if no OS sandbox can confine them. Default false. */
  readonly requireOsSandbox?: boolean | undefined;
  /**
   * Patterns of paths that are hidden with everything under them: not listed, read like missing files, and not written.
   * The syntax is that of `compileGlob` with `dot`. A pattern without `/` is compared with names at any depth, one with
   * `/` with the path from the top of the sandbox on (`/src/x`, or `/notes/x` with names); a `/` at the end is ignored.
   * The last pattern that matches decides, and `!` at its start makes an exception, except under a hidden directory.
   * A pattern that begins with `!(`, and a list with nothing but exceptions, are a RangeError. Upper and lower case are
   * the same. {@link SECRET_FILES} has common patterns. Default: none.
   */
  readonly deny?: readonly string[] | null | undefined;
}

/**
 * Access of a sandbox: one directory as its root, or several under names. `{ root: '/' }` is short for
 * `{ root: { root: '/' } }`.
 */
export type SandboxConfig = Surroundings &
  (
    | { readonly root: string | RootSandboxConfig; readonly paths?: null | undefined }
    | { readonly paths: Readonly<Record<string, PathConfig>>; readonly root?: null | undefined }
  );

const suffix: Reader<string> = (value, field) => {
  if (typeof value !== 'string') throw new TypeError(`${field} must be a string, not ${describe(value)}`);
  if ((value !== '' && value[0] !== '.') || /[/\\\0]/.test(value) || !value.isWellFormed()) {
    throw new RangeError(`${field} must be an ending such as '.md', or '' for files without one, not ${quote(value)}`);
  }
  return value;
};

const rules = {
  suffixes: optional(list(suffix)),
  maxFileBytes: optional(wholeNumber),
  readApproval: flag(false),
  writeApproval: flag(true),
} satisfies Fields;

const ROOT = { root: text, readonly: flag(false), ...rules } satisfies Fields;

const PATH = { root: text, mode: oneOf('ro', 'ro', 'rw'), ...rules } satisfies Fields;

/** A frozen configuration with every default filled in. It is a valid {@link SandboxConfig} too. */
export type ParsedSandboxConfig = {
  readonly network: boolean;
  readonly requireOsSandbox: boolean;
  readonly deny: readonly string[] | undefined;
} & (
  | { readonly root: Read<typeof ROOT>; readonly paths: undefined }
  | { readonly root: undefined; readonly paths: Readonly<Record<string, Read<typeof PATH>>> }
);

/**
 * Parses a configuration from plain data, as JSON and YAML give it, with keys in snake_case or in camelCase, not both.
 * `null` counts as a missing field if the type allows it. The result shares nothing with the input.
 *
 * @throws TypeError for unknown keys, wrong types, getters, and unless there is exactly one of `root` and `paths`
 * @throws RangeError for invalid sizes, suffixes, names and patterns; errors name the field or the key
 * @example
 * ```ts
 * import { parseSandboxConfig } from '@scratchfs/sandbox';
 *
 * const config = parseSandboxConfig({ paths: { notes: { root: './notes', max_file_bytes: 1000 } } });
 * console.log(config.paths?.['notes']?.maxFileBytes, config.paths?.['notes']?.mode); // → 1000 ro
 * ```
 */
export function parseSandboxConfig(data: unknown): ParsedSandboxConfig {
  const spelling = new Spelling();
  const fields = {
    root: optional((value, field) =>
      readObject(typeof value === 'string' ? { root: value } : value, field, ROOT, spelling),
    ),
    paths: optional((value, field) => readPaths(value, field, spelling)),
    network: flag(false),
    requireOsSandbox: flag(false),
    deny: optional(patterns),
  } satisfies Fields;
  const config = readObject(data, 'sandbox', fields, spelling);
  if ((config.root === undefined) === (config.paths === undefined)) {
    throw new TypeError('sandbox must have exactly one of root and paths');
  }
  return config as ParsedSandboxConfig;
}

function readPaths(value: unknown, field: string, spelling: Spelling): Readonly<Record<string, Read<typeof PATH>>> {
  const paths = Object.create(null) as Record<string, Read<typeof PATH>>;
  for (const [name, config] of entriesOf(value, field)) {
    const shown = `${field}.${quote(name).slice(1, -1)}`;
    checkMountName(name, shown);
    paths[name] = readObject(config, shown, PATH, spelling);
  }
  return Object.freeze(paths);
}

/** @throws RangeError for a name that could be confused with a path, or with a host path */
function checkMountName(name: string, field: string): void {
  try {
    checkName(name);
  } catch (cause) {
    throw new RangeError(`${field} must be the name of a directory: not empty, . or .., without / and \\`, { cause });
  }
  if (name.includes(':') || name[0] === '~') throw new RangeError(`${field} must not contain : or begin with ~`);
}
