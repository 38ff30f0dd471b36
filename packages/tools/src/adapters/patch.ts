import { type FileSystem, isFsError, quote } from '@scratchfs/core';
import type { Authorizer } from '../authorizer.js';
import { entryAt, inOnePiece, inTransaction, withParents } from '../in-transaction.js';
import { InputError } from '../input.js';
import { changeTextFile } from '../text-file.js';
import type { ToolCallOptions } from '../tool.js';
import { applyUpdate, createdText } from './v4a.js';

/** One change of a patch, in the shape of OpenAI's apply_patch. */
export type PatchOperation =
  | { readonly type: 'create_file'; readonly path: string; readonly diff: string }
  | { readonly type: 'update_file'; readonly path: string; readonly diff: string; readonly moveTo?: string | undefined }
  | { readonly type: 'delete_file'; readonly path: string };

const HEADERS = {
  '*** Add File: ': 'create_file',
  '*** Update File: ': 'update_file',
  '*** Delete File: ': 'delete_file',
} as const;

/** Parses a patch from `*** Begin Patch` to `*** End Patch`. @throws InputError */
export function parsePatch(text: string): PatchOperation[] {
  const lines = text.trim().split(/\r?\n/);
  if (lines[0]?.trim() !== '*** Begin Patch' || lines.at(-1)?.trim() !== '*** End Patch' || lines.length < 2) {
    throw new InputError("A patch has to begin with '*** Begin Patch' and to end with '*** End Patch'.");
  }
  const operations: PatchOperation[] = [];
  for (let at = 1; at < lines.length - 1; ) {
    const line = lines[at] as string;
    const header = (Object.keys(HEADERS) as (keyof typeof HEADERS)[]).find((each) => line.startsWith(each));
    if (header === undefined) {
      throw new InputError(
        `The patch has a line where '*** Add File: ', '*** Update File: ' or '*** Delete File: ' is expected: ${quote(line)}.`,
      );
    }
    const type = HEADERS[header];
    const path = line.slice(header.length).trim();
    const target = /^\*\*\* Move to: (.*)$/.exec(lines[at + 1] ?? '')?.[1]?.trim();
    const moveTo = type === 'update_file' ? target : undefined;
    const start = at + (moveTo === undefined ? 1 : 2);
    for (at = start; at < lines.length - 1 && !isHeader(lines[at] as string); ) at += 1;
    const diff = lines.slice(start, at).join('\n');
    if (type === 'delete_file') {
      if (diff.trim() !== '') throw new InputError(`Nothing may follow the removal of ${quote(path)}.`);
      operations.push({ type, path });
    } else operations.push(type === 'update_file' ? { type, path, diff, moveTo } : { type, path, diff });
  }
  if (operations.length === 0) throw new InputError('The patch changes nothing.');
  return operations;
}

function isHeader(line: string): boolean {
  return Object.keys(HEADERS).some((header) => line.startsWith(header));
}

/** Applies a patch completely or not at all, and returns a line for each operation. */
export async function applyOperations(
  authorizer: Authorizer,
  operations: readonly PatchOperation[],
  call: ToolCallOptions,
): Promise<string> {
  const { sandbox } = authorizer;
  const paths = operations.flatMap((each) =>
    'moveTo' in each && each.moveTo !== undefined ? [each.path, each.moveTo] : [each.path],
  );
  await authorizer.permit(
    {
      tool: 'apply_patch',
      rule: 'sandbox.write',
      uses: [
        ...operations.flatMap(({ type, path }) => (type === 'update_file' ? [{ path, access: 'read' as const }] : [])),
        ...paths.map((path) => ({ path, access: 'write' as const })),
      ],
      summary: operations.map(describe).join('; '),
      detail: operations.map((each) => ('diff' in each ? each.diff : '')).join('\n'),
    },
    call,
  );
  const applyAll = async (fileSystem: FileSystem): Promise<void> => {
    for (const operation of operations) {
      const { path } = operation;
      const dest = 'moveTo' in operation ? operation.moveTo : undefined;
      try {
        await applyOne(fileSystem, operation, (given) => sandbox.locate(given), call);
      } catch (error) {
        throw sandbox.explain(error, path, dest);
      }
    }
  };
  const hasOneChange = operations.length === 1 && operations.every(isOneChange);
  if (hasOneChange) await inTransaction(sandbox.fileSystem, applyAll, call);
  else await inOnePiece(sandbox.fileSystem, applyAll, call, refuse);
  return operations.map((operation) => `${describe(operation)}: done.`).join('\n');
}

/** Reports whether an operation makes only one change, apart from creating directories that lead to it. */
function isOneChange(operation: PatchOperation): boolean {
  return operation.type !== 'update_file' || operation.moveTo === undefined || operation.diff.trim() === '';
}

async function refuse(): Promise<never> {
  throw new InputError(
    'Nothing was changed: this filesystem has no transactions (as a mount of several), so a patch of several changes could be applied in part. Send one change at a time: a patch that creates, updates, deletes or moves one file.',
  );
}

async function applyOne(
  fileSystem: FileSystem,
  operation: PatchOperation,
  locate: (path: string) => string,
  call: ToolCallOptions,
): Promise<void> {
  const path = locate(operation.path);
  if (operation.type === 'delete_file') return fileSystem.unlink(path, call);
  if (operation.type === 'create_file') return create(fileSystem, path, operation, call);
  const { diff, moveTo } = operation;
  if (diff.trim() !== '') {
    const update = (before: string) => ({ text: applyUpdate(before, diff) });
    await changeTextFile(fileSystem, path, operation.path, update, call);
  } else if (moveTo === undefined)
    throw new InputError(`The patch says nothing of what to change in ${quote(operation.path)}.`);
  if (moveTo === undefined) return;
  const target = locate(moveTo);
  if ((await entryAt(fileSystem, target, call)) !== undefined)
    throw new InputError(`There is something at ${quote(moveTo)} already.`);
  await withParents(fileSystem, target, call, () => fileSystem.rename(path, target, call));
}

async function create(
  fileSystem: FileSystem,
  path: string,
  { path: given, diff }: PatchOperation & { type: 'create_file' },
  call: ToolCallOptions,
): Promise<void> {
  const text = createdText(diff);
  try {
    await withParents(fileSystem, path, call, () => fileSystem.writeFile(path, text, { flag: 'wx', ...call }));
  } catch (error) {
    if (!isFsError(error, 'EEXIST')) throw error;
    throw new InputError(`There is a file ${quote(given)} already: update it instead.`);
  }
}

function describe(operation: PatchOperation): string {
  const path = quote(operation.path);
  if (operation.type === 'create_file') return `Create ${path}`;
  if (operation.type === 'delete_file') return `Delete ${path}`;
  return operation.moveTo === undefined ? `Update ${path}` : `Update ${path} and move it to ${quote(operation.moveTo)}`;
}
