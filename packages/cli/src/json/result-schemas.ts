/** A JSON Schema, of the parts that the results need. */
export type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const number: Schema = { type: 'number' };
const integer: Schema = { type: 'integer' };
const list = (items: Schema): Schema => ({ type: 'array', items });

/** Returns the schema of an object. A name that ends with `?` may be missing. */
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

/** Results by command, without the fields that all have: `version` and `command`. */
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
  copy: object(copied),
  'import tar': object(copied),
  'import snapshot': object(copied),
  'import git': object({ ...copied, commit: text }),
  'export tar': written,
  'export snapshot': written,
  'export git': object({ commit: text, branch: text, repository: text }),
  completion: object({ shell: text, script: text }),
  help: object({ commands: list({ type: 'object' }) }),
};

/** Returns the schema of what `--json` prints for a command that succeeds. */
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

/** Schema of what `--json` prints for every failure. */
export const ERROR_SCHEMA: Schema = object({
  version: { const: 1 },
  error: object({ code: text, message: text, 'hint?': text }),
});
