import { quote } from '@scratchfs/core';
import type { FileSandbox } from '@scratchfs/sandbox';
import { AUTHORIZER_OPTIONS, Authorizer, type AuthorizerOptions } from './authorizer.js';
import { toolOf } from './define-tool.js';
import { fileToolHints } from './error-text.js';
import { ownOptions } from './plain-data.js';
import type { ReadsOfFiles } from './read-versions.js';
import type { FailureOptions, OnError } from './run-tool.js';
import type { Tool, ToolCallOptions, ToolResult } from './tool.js';
import type { DataOf } from './tool-data.js';
import { LEGACY_NAMES } from './tool-names.js';
import { hasFileSystem } from './tool-sandbox.js';
import type { Definition } from './tools/define.js';
import { editFile } from './tools/edit-file.js';
import { fileInfo } from './tools/file-info.js';
import { grep } from './tools/grep.js';
import { listFiles, searchFiles } from './tools/list-files.js';
import { makeDirectory } from './tools/make-directory.js';
import { deleteFile, moveFile } from './tools/names.js';
import { readFile } from './tools/read-file.js';
import { readMedia } from './tools/read-media.js';
import { checkpoint, diff, rollback } from './tools/states.js';
import { writeFile } from './tools/write-file.js';

const DEFINITIONS: readonly Definition[] = [
  readFile,
  readMedia,
  writeFile,
  listFiles,
  fileInfo,
  makeDirectory,
  editFile,
  deleteFile,
  moveFile,
  searchFiles,
  grep,
  checkpoint,
  rollback,
  diff,
];

export interface FileToolsOptions extends AuthorizerOptions {
  /** Names of the tools to offer. Default: all that the rules allow and the sandbox can run. */
  readonly only?: readonly string[] | undefined;
  /**
   * Also offers the legacy names `sandbox_read_text`, `sandbox_write_text` and `sandbox_list`. Default false. Calls by
   * these names work in both cases.
   */
  readonly legacyNames?: boolean | undefined;
  readonly onError?: OnError | undefined;
  /**
   * Reads that the file tools of several models share. `files` is a name for the files, the same for all these tools. A
   * file that only another model has read can then be changed only in the version of its first read. Default: a file
   * that this model has not read can be changed in any version.
   */
  readonly sharedReads?: ReadsOfFiles | undefined;
}

/** The tools of a sandbox. */
export interface FileTools {
  /** The tools to describe to the model. */
  readonly tools: readonly Tool[];
  /** Runs a tool by name. Returns unknown names and failures as results. Rejects if aborted or `onError` throws. */
  call<N extends string>(name: N, input: unknown, options?: ToolCallOptions): Promise<ToolResult<DataOf<N>>>;
}

/**
 * Creates file tools for a language model over a sandbox: `read_file` `read_media` `write_file` `list_files`
 * `file_info` `make_directory` `edit_file` `delete_file` `move_file` `search_files` `grep` `checkpoint` `rollback`
 * `diff`. Each is a name, a description, a JSON Schema and a function, for any framework. The sandbox decides which
 * files may be touched; rules and approvals can restrict that further.
 *
 * A read-only sandbox offers no tools that write, and no `checkpoint` and `diff`. `checkpoint`, `rollback` and `diff`
 * know only checkpoints whose name in the filesystem begins with `tools:`; the model's name for one is the rest.
 *
 * Without `approve`, actions that need approval (writes, by default) are refused.
 *
 * @throws TypeError for unknown rules, names and options; TypeError or RangeError for wrong values
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { Sandbox } from '@scratchfs/sandbox';
 * import { createFileTools } from '@scratchfs/tools';
 *
 * const fs = createFileSystem({ files: { '/src/a.ts': 'let x = 1;' } });
 * const sandbox = new Sandbox(fs);
 * const { call } = createFileTools(sandbox, { approve: ({ summary }) => summary.startsWith('Replace') });
 * const edit = { path: '/src/a.ts', old_text: 'let', new_text: 'const' };
 * console.log((await call('edit_file', edit)).text.split('\n')[0]); // → Replaced 1 occurrence in '/src/a.ts'.
 * console.log((await call('delete_file', { path: '/src/a.ts' })).isError); // → true
 * ```
 */
export function createFileTools(sandbox: FileSandbox, options: FileToolsOptions = {}): FileTools {
  const known = [...AUTHORIZER_OPTIONS, 'only', 'legacyNames', 'onError', 'sharedReads'] as const;
  const {
    only,
    legacyNames: offersLegacy = false,
    onError,
    sharedReads,
    ...rest
  } = ownOptions(options, known, 'createFileTools');
  const namesOf = ({ name }: Definition): string[] => [
    name,
    ...(LEGACY_NAMES[name] === undefined ? [] : [LEGACY_NAMES[name]]),
  ];
  const all = DEFINITIONS.flatMap(namesOf);
  const unknown = only?.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new TypeError(`There is no tool ${quote(unknown)}. There are ${all.join(', ')}`);
  const names = new Set<string>();
  const authorizer = new Authorizer(sandbox, rest, names, sharedReads);
  const byName = new Map<string, Tool>();
  const tools: Tool[] = [];
  const callable = DEFINITIONS.filter((definition) => {
    const isWanted = only === undefined || namesOf(definition).some((name) => only.includes(name));
    return isWanted && isPossible(definition, sandbox) && authorizer.isAllowed(definition);
  });
  const offered = callable.filter(({ rule }) => rule === 'sandbox.read' || isWritable(sandbox));
  for (const { name } of offered) names.add(name);
  const failures = { onError, hints: fileToolHints(names) };
  for (const definition of callable) {
    for (const name of namesOf(definition)) {
      const tool = fileTool(definition, name, authorizer, failures);
      byName.set(name, tool);
      if (offered.includes(definition) && (name === definition.name || offersLegacy)) tools.push(tool);
    }
  }
  return {
    tools: Object.freeze(tools),
    call: async <N extends string>(name: N, input: unknown, call?: ToolCallOptions) => {
      const tool = byName.get(name);
      if (tool !== undefined) return tool.run(input, call) as Promise<ToolResult<DataOf<N>>>;
      const known = tools.map((each) => each.name).join(', ');
      return { text: `There is no tool of that name. The tools are ${known}.`, isError: true };
    },
  };
}

/** Reports whether a sandbox has what a tool works with. */
function isPossible({ isPlain = false, needs }: Definition, sandbox: FileSandbox): boolean {
  if (!hasFileSystem(sandbox)) return isPlain;
  if (needs === undefined) return true;
  // A model that cannot write has no steps to compare or to take back: it could only use up the limit of checkpoints.
  return isWritable(sandbox) && sandbox.fileSystem.capabilities[needs] === true;
}

/** Reports whether anything can be written. A sandbox with writable roots may have a read-only filesystem. */
function isWritable(sandbox: FileSandbox): boolean {
  return (
    sandbox.writableRoots.length > 0 && !(hasFileSystem(sandbox) && sandbox.fileSystem.capabilities.writes === false)
  );
}

function fileTool(definition: Definition, name: string, authorizer: Authorizer, failures: FailureOptions): Tool {
  const { properties, required, seeAlso = {} } = definition;
  const also = Object.keys(seeAlso).flatMap((tool) => (authorizer.offered.has(tool) ? [seeAlso[tool]] : []));
  const description = [definition.description, ...also].join(' ');
  const run = (input: never, call: ToolCallOptions) => definition.run(authorizer, input, call);
  return toolOf({ name, description, properties, required, run }, failures);
}
