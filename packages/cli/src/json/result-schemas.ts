/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const number: Schema = { type: 'number' };
const integer: Schema = { type: 'integer' };
const boolean: Schema = { type: 'boolean' };
const list = (items: Schema): Schema => ({ type: 'array', items });

/** Returns the schema of an object. A field whose name ends with `?` is optional. */
function object(fields: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace('?', ''), fields[name]])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  };
}

const kind: Schema = { enum: ['file', 'directory', 'symlink'] };
const entry = object({ path: text, kind, size: integer, mode: integer, modifiedAt: number, 'target?': text });
const copied = { path: text, files: integer, directories: integer, symlinks: integer, bytes: integer };
const written = object({ file: text, size: integer });

const nullable = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const state = object({ kind, mode: integer, size: integer, 'hash?': text, 'target?': text });
const side: Schema = { anyOf: [state, { type: 'null' }, { const: 'disk' }] };
const operation = object({
  id: integer,
  attempt: text,
  at: number,
  actor: text,
  tool: text,
  summary: text,
  ok: boolean,
  ms: number,
  changes: list(object({ path: text, 'from?': text, before: side, after: side, 'files?': integer })),
  'as?': { enum: ['apply', 'merge', 'branch'] },
  'target?': integer,
});
const attempt = object({
  name: text,
  state: { enum: ['open', 'discarded'] },
  createdAt: number,
  changedAt: number,
  head: integer,
  changedPaths: integer,
  current: boolean,
  'parent?': object({ attempt: text, operation: integer }),
});
const hunk = object({
  id: text,
  oldStart: integer,
  oldLines: integer,
  newStart: integer,
  newLines: integer,
  lines: list(text),
});
const pathDiff = object({
  path: text,
  type: { enum: ['added', 'removed', 'changed', 'moved'] },
  'from?': text,
  before: nullable(state),
  after: nullable(state),
  binary: boolean,
  additions: integer,
  deletions: integer,
  'files?': integer,
  hunks: list(hunk),
});
const conflict = object({
  path: text,
  code: {
    enum: ['content', 'binary', 'kind', 'removed', 'exists', 'mode', 'case', 'directory', 'not-empty', 'refused'],
  },
  base: nullable(state),
  disk: nullable(state),
  attempt: nullable(state),
});
const approval = object({
  id: integer,
  state: { enum: ['pending', 'approved', 'denied', 'expired'] },
  attempt: text,
  head: integer,
  action: text,
  summary: text,
  details: {},
  createdAt: number,
  expiresAt: number,
});
const accepted = {
  attempt: text,
  success: boolean,
  message: text,
  accepted: list(text),
  conflicts: list(conflict),
  autoRun: list(text),
  operation: nullable(operation),
  'commit?': text,
};
const ended = {
  exitCode: nullable(integer),
  signal: nullable(text),
  stopped: nullable(text),
  stdout: text,
  stderr: text,
  refused: list(object({ path: text, reason: text })),
  autoRun: list(text),
};
const error = object({ code: text, message: text, 'hint?': text });
const stepsWith = (left: Schema): Schema =>
  object({
    attempt: text,
    operations: list(operation),
    merged: list(text),
    conflicts: list(conflict),
    'left?': list(left),
    'error?': error,
  });
/** After a no or a failure, `left` has the operations that were not done. `error` describes the failure. */
const steps = stepsWith(operation);
const approvals = object({ approvals: list(approval) });

/** Schemas of the results by command, without the fields that all results have: `version` and `command`. */
const RESULTS: Readonly<Record<string, Schema>> = {
  'fs ls': object({ entries: list(entry) }),
  'fs tree': object({ path: text, entries: list(entry) }),
  'fs cat': object({ files: list(object({ path: text, 'text?': text, 'base64?': text })) }),
  'fs stat': object({
    entries: list(
      object({
        path: text,
        kind,
        size: integer,
        mode: integer,
        links: integer,
        uid: integer,
        gid: integer,
        modifiedAt: number,
        changedAt: number,
        createdAt: number,
        version: text,
        'target?': text,
      }),
    ),
  }),
  'fs find': object({ paths: list(text) }),
  'fs grep': object({
    'matches?': list(
      object({
        path: text,
        line: integer,
        column: integer,
        text,
        ranges: list(object({ start: integer, end: integer })),
        before: list(text),
        after: list(text),
      }),
    ),
    'paths?': list(text),
  }),
  'fs write': object({ path: text, size: integer }),
  'fs edit': object({ path: text, replaced: integer }),
  'fs put': object(copied),
  'fs get': object({ ...copied, target: text }),
  'fs rm': object({ paths: list(text) }),
  'fs mv': object({ from: text, to: text }),
  'fs cp': object({ from: text, to: text }),
  copy: object({ ...copied, checkpoints: integer }),
  'import tar': object(copied),
  'import snapshot': object(copied),
  'import git': object({ ...copied, commit: text }),
  'export tar': written,
  'export snapshot': written,
  'export git': object({ commit: text, branch: text, repository: text }),
  run: object({
    attempt: text,
    decision: { enum: ['accepted', 'kept', 'discarded'] },
    ...ended,
    operation: nullable(operation),
    paths: list(pathDiff),
    'accept?': object(accepted),
  }),
  try: object({
    picked: nullable(text),
    tries: list(object({ attempt: text, ...ended, test: nullable(object(ended)), paths: list(pathDiff) })),
  }),
  status: object({
    directory: text,
    attempt: nullable(attempt),
    paths: list(pathDiff),
    conflicts: list(conflict),
    approvals: integer,
    warnings: list(text),
  }),
  log: object({ attempt: text, operations: list(operation), next: nullable(integer) }),
  show: object({ operation, paths: list(pathDiff) }),
  diff: object({ attempt: text, head: integer, paths: list(pathDiff) }),
  watch: object({ event: { type: 'object' } }),
  undo: steps,
  redo: steps,
  // Here `left` has the paths that were not restored.
  restore: stepsWith(text),
  accept: object({ ...accepted, 'patch?': text }),
  refresh: object({ attempt: text, merged: list(text), conflicts: list(conflict) }),
  approvals,
  approve: approvals,
  deny: approvals,
  attempts: object({ attempts: list(attempt) }),
  fork: object({ attempt: text, parent: text, current: boolean }),
  switch: object({ attempt: text }),
  discard: object({ attempts: list(text) }),
  gc: object({ deleted: integer, bytes: integer, kept: integer }),
  doctor: object({ checks: list(object({ name: text, ok: boolean, text, 'hint?': text })) }),
  completion: object({ shell: text, script: text }),
  help: object({ commands: list({ type: 'object' }) }),
};

/** Names of the commands whose results have a schema. */
export const COMMANDS_WITH_RESULT: readonly string[] = Object.keys(RESULTS);

/**
 * Returns the schema of the object that a command prints with `--json`, unless it fails before it has done anything.
 */
export function resultSchema(command: string): Schema {
  const { properties, required } = (RESULTS[command] ?? object({})) as {
    readonly properties: Record<string, Schema>;
    readonly required: readonly string[];
  };
  return {
    type: 'object',
    properties: { version: { const: 1 }, command: { const: command }, ...properties },
    required: ['version', 'command', ...required],
    additionalProperties: false,
  };
}

/** Schema of the object that is printed for an error with `--json`. */
export const ERROR_SCHEMA: Schema = object({
  version: { const: 1 },
  error,
});
