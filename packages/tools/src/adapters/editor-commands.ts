import { type EntryInfo, type FileSystem, isFsError, joinPath, quote, type VersionOptions } from '@scratchfs/core';
import type { Authorizer, PathUse, ToolAction } from '../authorizer.js';
import { entryAt, inTransaction, withParents } from '../in-transaction.js';
import { checkPath, InputError } from '../input.js';
import type { VersionCheck } from '../read-versions.js';
import { changeTextFile, readTextFile } from '../text-file.js';
import type { ToolCallOptions } from '../tool.js';
import { inWordsOf } from '../tools/define.js';
import { inserted, numbered, placesOf, placesText, snippet } from './numbered-lines.js';

/** The commands of Anthropic's text editor and memory tools over a sandbox. */
export class EditorCommands {
  constructor(
    readonly authorizer: Authorizer,
    /** The tool's name in rules and approvals. */
    readonly tool: string,
    /** Translates a path from the model to a path of the sandbox. @throws InputError */
    readonly inner: (path: string) => string = (path) => path,
    /** Path of a directory, as the sandbox spells it, that counts as empty as long as it does not exist. */
    readonly implicitRoot?: string,
  ) {}

  async view(given: string, range: readonly number[] | undefined, call: ToolCallOptions): Promise<string> {
    checkPath(given);
    const path = this.inner(given);
    const use: PathUse = { path, access: 'read' };
    if (await this.#isDirectory(path, call)) {
      await this.#permit('sandbox.read', [], `List ${quote(given)}`, call);
      return this.#list(given, path, call);
    }
    await this.#permit('sandbox.read', [use], `Read ${quote(given)}`, call);
    const read = (): Promise<string> =>
      this.#on(given, path, (fileSystem, place) => readTextFile(fileSystem, place, given, call));
    const text = await this.authorizer.versions.reading(path, call, read, range !== undefined);
    return `Here is the content of ${given} with line numbers:\n${numbered(text, range)}`;
  }

  async create(given: string, text: string, call: ToolCallOptions): Promise<string> {
    const path = this.inner(given);
    await this.#permit('sandbox.write', [{ path, access: 'write' }], `Create ${quote(given)}`, call, text);
    const create = (): Promise<void> =>
      this.#on(given, path, (fileSystem, place) =>
        inTransaction(
          fileSystem,
          (branch) => withParents(branch, place, call, () => branch.writeFile(place, text, { flag: 'wx', ...call })),
          call,
        ).catch((error: unknown) => {
          if (!isFsError(error, 'EEXIST')) throw error;
          const advice = this.tool === 'memory' ? ', or delete it before' : '';
          throw new InputError(`There is a file ${quote(given)} already. Use str_replace to change it${advice}.`);
        }),
      );
    // The file is new, so its version needs no condition.
    await this.authorizer.versions.writing(path, call, () => create().then(() => text), given);
    return `Created the file ${given}.`;
  }

  async replace(given: string, before: string, after: string, call: ToolCallOptions): Promise<string> {
    const path = this.inner(given);
    if (before === '') throw new InputError('old_str must not be empty.');
    const summary = `Replace ${quote(before)} by ${quote(after)} in ${quote(given)}`;
    await this.#permit('sandbox.write', both(path), summary, call, after);
    const { text, line } = await this.#change(given, path, call, (old) => {
      const places = placesOf(old, before);
      const [place] = places;
      if (place === undefined) {
        throw new InputError(
          `No replacement was performed: old_str does not appear verbatim in ${given}. View the file and copy the text exactly.`,
        );
      }
      if (places.length > 1) {
        throw new InputError(
          `No replacement was performed: old_str appears more than once in ${given}, beginning in lines ${placesText(places)}. Make it longer, so that it is unique.`,
        );
      }
      return { text: old.replace(before, () => after), line: place };
    });
    const lines = after.split('\n').length;
    return `The file ${given} has been edited. Here is what stands there now:\n${snippet(text, line, lines)}`;
  }

  async insert(given: string, afterLine: number, piece: string, call: ToolCallOptions): Promise<string> {
    const path = this.inner(given);
    const summary = `Insert text after line ${afterLine} of ${quote(given)}`;
    await this.#permit('sandbox.write', both(path), summary, call, piece);
    const { text, line } = await this.#change(given, path, call, (old) => ({
      text: inserted(old, afterLine, piece),
      line: afterLine + 1,
    }));
    return `The file ${given} has been edited. Here is what stands there now:\n${snippet(text, line, piece.split('\n').length)}`;
  }

  async delete(given: string, call: ToolCallOptions): Promise<string> {
    const path = this.inner(given);
    const use: PathUse = { path, access: 'write', follow: false };
    await this.#permit('sandbox.write', [use, { ...use, isTree: true }], `Delete ${quote(given)}`, call);
    const remove = (condition: VersionOptions, check: VersionCheck | undefined): Promise<void> =>
      this.#on(given, path, (fileSystem, place) => {
        const rm = (branch: FileSystem) => branch.rm(place, { recursive: true, ...condition, ...call });
        return check === undefined
          ? rm(fileSystem)
          : inTransaction(fileSystem, (branch) => check(branch).then(() => rm(branch)), call);
      });
    await this.authorizer.versions.removing(path, call, remove, given);
    return `Deleted ${given}.`;
  }

  async rename(from: string, to: string, call: ToolCallOptions): Promise<string> {
    const [source, target] = [this.inner(from), this.inner(to)];
    const { sandbox } = this.authorizer;
    const use: PathUse = { path: source, access: 'write', follow: false };
    const uses = [use, { ...use, isTree: true }, { path: target, access: 'write', follow: false } as const];
    await this.#permit('sandbox.write', uses, `Move ${quote(from)} to ${quote(to)}`, call);
    const move = async (fileSystem: FileSystem, condition: VersionOptions): Promise<void> => {
      const place = sandbox.locate(target);
      if ((await entryAt(fileSystem, place, call)) !== undefined)
        throw new InputError(`There is something at ${quote(to)} already.`);
      await withParents(fileSystem, place, call, () =>
        fileSystem.rename(sandbox.locate(source), place, { ...condition, ...call }),
      );
    };
    const moving = (condition: VersionOptions): Promise<void> =>
      inTransaction(sandbox.fileSystem, (branch) => move(branch, condition), call);
    const { versions } = this.authorizer;
    await inWordsOf(this.authorizer, () => versions.moving(source, target, call, moving, from), source, target);
    return `Moved ${from} to ${to}.`;
  }

  #permit(
    rule: ToolAction['rule'],
    uses: readonly PathUse[],
    summary: string,
    call: ToolCallOptions,
    detail?: string,
  ): Promise<void> {
    return this.authorizer.permit(
      { tool: this.tool, rule, uses, summary, ...(detail === undefined ? {} : { detail }) },
      call,
    );
  }

  /**
   * Reads, changes and writes a text file.
   * @throws InputError if the file has changed since the model viewed it, so that line numbers are those that it saw
   */
  async #change<R extends { readonly text: string }>(
    given: string,
    path: string,
    call: ToolCallOptions,
    change: (text: string) => R,
  ): Promise<R> {
    let result: R | undefined;
    const write = async (condition: VersionOptions): Promise<string | undefined> => {
      result = await this.#on(given, path, (fileSystem, place) =>
        changeTextFile(fileSystem, place, given, change, { ...condition, ...call }),
      );
      return condition.ifVersion === undefined ? undefined : result.text;
    };
    await this.authorizer.versions.writing(path, call, write, given);
    return result as R;
  }

  /** Works on a path in the filesystem. Errors name the path as the model wrote it. */
  #on<T>(given: string, path: string, work: (fileSystem: FileSystem, place: string) => Promise<T>): Promise<T> {
    const { sandbox } = this.authorizer;
    return inWordsOf(this.authorizer, () => work(sandbox.fileSystem, sandbox.locate(path)), given);
  }

  async #isDirectory(path: string, call: ToolCallOptions): Promise<boolean> {
    const { sandbox } = this.authorizer;
    return (
      isTop(this.authorizer, path) ||
      (await sandbox.fileSystem.isDirectory(sandbox.locate(path), call)) ||
      this.#isStillEmpty(path, call)
    );
  }

  async #isStillEmpty(path: string, call: ToolCallOptions): Promise<boolean> {
    const { sandbox } = this.authorizer;
    if (this.implicitRoot === undefined) return false;
    const place = sandbox.locate(path);
    return (
      place === sandbox.locate(this.implicitRoot) && (await entryAt(sandbox.fileSystem, place, call)) === undefined
    );
  }

  async #list(given: string, path: string, call: ToolCallOptions): Promise<string> {
    const { sandbox } = this.authorizer;
    const lines: string[] = [];
    const add = async (top: string, shown: string, depth: number): Promise<void> => {
      for await (const info of sandbox.fileSystem.walk(top, { maxDepth: depth, ...call })) {
        if (!isHidden(info.path.slice(top.length)))
          lines.push(lineOf(info, joinPath(shown, info.path.slice(top === '/' ? 1 : top.length + 1))));
      }
    };
    await inWordsOf(
      this.authorizer,
      async () => {
        if (await this.#isStillEmpty(path, call)) return;
        if (!isTop(this.authorizer, path)) return add(sandbox.locate(path), tidyPath(given), 2);
        for (const root of sandbox.readableRoots) {
          lines.push(`${root}/`);
          await add(sandbox.locate(root), root, 1);
        }
      },
      given,
    );
    const cut =
      lines.length > MAX_LISTED_ENTRIES
        ? [
            ...lines.slice(0, MAX_LISTED_ENTRIES),
            `[${MAX_LISTED_ENTRIES} of ${lines.length} entries: view a directory in it for the rest.]`,
          ]
        : lines;
    return [
      `Here are the files and directories up to 2 levels deep in ${given}, without hidden ones and node_modules:`,
      ...cut,
    ].join('\n');
  }
}

const MAX_LISTED_ENTRIES = 500;
const both = (path: string): readonly PathUse[] => [
  { path, access: 'read' },
  { path, access: 'write' },
];

/**
 * Reports whether a path is the root of a sandbox with named roots. It can be listed, but is not a directory of the
 * filesystem.
 */
function isTop({ sandbox }: Authorizer, path: string): boolean {
  if (!/^[./\\]+$/.test(path) || path.includes('..')) return false;
  try {
    sandbox.locate(path);
    return false;
  } catch {
    return true;
  }
}

/** Returns a path with single `/` between its names, without a final separator and without `.`. */
export function tidyPath(path: string): string {
  const names = path.split(/[/\\]/).filter((name) => name !== '' && name !== '.');
  return `${/^[/\\]/.test(path) ? '/' : ''}${names.join('/')}`;
}

function isHidden(path: string): boolean {
  return path.split('/').some((name) => (name[0] === '.' && name.length > 1) || name === 'node_modules');
}

function lineOf({ kind, size }: EntryInfo, path: string): string {
  return kind === 'directory' ? `-\t${path}/` : `${size}B\t${path}`;
}
