import { quote } from '@scratchfs/core';
import type { FileSystemSandbox } from '@scratchfs/sandbox';
import { AUTHORIZER_OPTIONS, Authorizer, type AuthorizerOptions } from '../authorizer.js';
import { EDITOR_HINTS } from '../error-text.js';
import { InputError } from '../input.js';
import { ownOptions } from '../plain-data.js';
import { type OnError, runTool } from '../run-tool.js';
import type { ToolCallOptions, ToolResult } from '../tool.js';
import { EditorCommands, tidyPath } from './editor-commands.js';

export interface AnthropicOptions extends AuthorizerOptions {
  readonly onError?: OnError | undefined;
}

/** Anthropic's text editor tool: its definition, and a function that runs its commands. */
export interface TextEditor {
  readonly type: 'text_editor_20250728';
  readonly name: 'str_replace_based_edit_tool';
  /** Runs one command as the model sent it. Failures are returned as results. Rejects if aborted. */
  call(input: unknown, options?: ToolCallOptions): Promise<ToolResult>;
}

/** Creates Anthropic's text editor tool over a sandbox: the commands `view`, `create`, `str_replace` and `insert`. */
export function textEditor(sandbox: FileSystemSandbox, options: AnthropicOptions = {}): TextEditor {
  const { onError, ...authorizer } = ownOptions(options, [...AUTHORIZER_OPTIONS, 'onError'], 'textEditor');
  const commands = new EditorCommands(new Authorizer(sandbox, authorizer), 'str_replace_based_edit_tool');
  const failures = { onError, hints: EDITOR_HINTS };
  return {
    type: 'text_editor_20250728',
    name: 'str_replace_based_edit_tool',
    call: (input, call = {}) =>
      runTool('str_replace_based_edit_tool', failures, call, async () => runCommand(commands, input, call)),
  };
}

/** The handlers that `betaMemoryTool` of Anthropic's SDK takes. They reject with a message for the model. */
export interface MemoryHandlers {
  view(command: { path: string; view_range?: number[] | null }): Promise<string>;
  create(command: { path: string; file_text: string }): Promise<string>;
  str_replace(command: { path: string; old_str: string; new_str: string }): Promise<string>;
  insert(command: { path: string; insert_line: number; insert_text: string }): Promise<string>;
  delete(command: { path: string }): Promise<string>;
  rename(command: { old_path: string; new_path: string }): Promise<string>;
}

export interface MemoryOptions extends AnthropicOptions {
  /**
   * Directory of the sandbox that the model sees as `/memories`. Default `/memories`. Before the first write it need
   * not exist: the model sees an empty directory.
   */
  readonly root?: string | undefined;
}

/**
 * Creates the handlers of Anthropic's memory tool over a sandbox: `betaMemoryTool(memoryHandlers(sandbox))`. Text to
 * replace may span several lines, and must occur exactly once in the file.
 */
export function memoryHandlers(sandbox: FileSystemSandbox, options: MemoryOptions = {}): MemoryHandlers {
  const {
    root = '/memories',
    onError,
    ...authorizer
  } = ownOptions(options, [...AUTHORIZER_OPTIONS, 'onError', 'root'], 'memoryHandlers');
  const inner = (path: string): string => memoryPath(path, root);
  const commands = new EditorCommands(new Authorizer(sandbox, authorizer), 'memory', inner, root);
  const failures = { onError, hints: EDITOR_HINTS };
  const run = async (input: object): Promise<string> => {
    const { text, isError } = await runTool('memory', failures, {}, async () => runCommand(commands, input, {}));
    if (isError) throw new Error(text);
    return text;
  };
  return {
    view: (command) => run({ ...command, command: 'view' }),
    create: (command) => run({ ...command, command: 'create' }),
    str_replace: (command) => run({ ...command, command: 'str_replace' }),
    insert: (command) => run({ ...command, command: 'insert' }),
    delete: (command) => run({ ...command, command: 'delete' }),
    rename: (command) => run({ ...command, command: 'rename' }),
  };
}

/** Translates `/memories/x` to a path of the sandbox. @throws InputError for a path outside `/memories` or with `..` */
function memoryPath(path: string, root: string): string {
  const isInside = path === '/memories' || path.startsWith('/memories/');
  if (!isInside || path.split(/[/\\]/).includes('..')) {
    throw new InputError(`Paths have to begin with /memories and to stay in it, unlike ${quote(path)}.`);
  }
  return root.replace(/[/\\]+$/, '') + tidyPath(path).slice('/memories'.length) || root;
}

/** Runs a command by name. A field of the wrong type is an InputError, because the model sent it. */
function runCommand(commands: EditorCommands, input: unknown, call: ToolCallOptions): Promise<string> {
  const fields = new Fields(input);
  const command = fields.text('command');
  const isMemory = commands.tool === 'memory';
  if (command === 'view') return commands.view(fields.text('path'), fields.range('view_range'), call);
  if (command === 'create') return commands.create(fields.text('path'), fields.text('file_text'), call);
  if (command === 'str_replace') {
    return commands.replace(fields.text('path'), fields.text('old_str'), fields.text('new_str', ''), call);
  }
  if (command === 'insert') {
    return commands.insert(fields.text('path'), fields.number('insert_line'), fields.text('insert_text'), call);
  }
  if (command === 'delete' && isMemory) return commands.delete(notTheRoot(fields.text('path')), call);
  if (command === 'rename' && isMemory) {
    return commands.rename(notTheRoot(fields.text('old_path')), fields.text('new_path'), call);
  }
  throw new InputError(`There is no command ${quote(command)}.`);
}

function notTheRoot(path: string): string {
  if (tidyPath(path) === '/memories') throw new InputError('The directory /memories itself stays.');
  return path;
}

class Fields {
  readonly #input: Record<string, unknown>;

  constructor(input: unknown) {
    if (typeof input !== 'object' || input === null)
      throw new InputError('The input must be an object with a command.');
    this.#input = input as Record<string, unknown>;
  }

  text(name: string, fallback?: string): string {
    const value = this.#own(name) ?? fallback;
    if (typeof value !== 'string') throw new InputError(`${name} must be a string.`);
    return value;
  }

  number(name: string): number {
    const value = this.#own(name);
    if (typeof value !== 'number') throw new InputError(`${name} must be a number.`);
    return value;
  }

  range(name: string): readonly number[] | undefined {
    const value = this.#own(name);
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value)) throw new InputError(`${name} must be a list of two numbers.`);
    return value as readonly number[];
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#input, name) ? this.#input[name] : undefined;
  }
}
