import { replacing } from '../../edit-text.js';
import { FsError } from '../../errors.js';
import type { EditOptions } from '../../file-system.js';
import { FileNode } from '../../tree/node.js';
import { sameBytes } from '../../tree/same-bytes.js';
import { type Location, touched } from '../../tree/tree.js';
import { checkBoolean, checkOptions, checkVersion } from '../arguments.js';
import { decodedStrictly, encoded, LONG_TEXT } from '../scheduling/long-text.js';
import { runSteps, type Steps } from '../scheduling/time-slice.js';
import { fileBytes, fileText } from '../view/contents.js';
import { checkFileSize, reserve } from '../view/limits.js';
import type { View } from '../view.js';
import { expectVersion, present } from './read.js';
import { settled } from './settle.js';
import { fill, replaceContent, writable } from './write.js';

/** Arguments of an edit besides the path. */
export interface Edit {
  readonly search: string;
  readonly replacement: string;
  readonly options: EditOptions | undefined;
}

export function editFile(view: View, path: string, edit: Edit): number {
  return editAt(view, placeOf(view, path, edit), path, edit);
}

/** Edits a file; or returns the bytes of a long one, for {@link edited} to process and {@link putEdited} to store. */
export function editOrRead(view: View, path: string, edit: Edit): number | Uint8Array {
  const place = placeOf(view, path, edit);
  return place.file.size < LONG_TEXT ? editAt(view, place, path, edit) : fileBytes(view, place.file, path);
}

function editAt(view: View, place: Place, path: string, { search, replacement }: Edit): number {
  const { text, count } = runSteps(replacing(textOf(view, place.file, path), search, replacement, place.all, path));
  put(view, place, text, path);
  return count;
}

/** Returns the bytes of a file after an edit, with the number of replacements. */
export function* edited(before: Uint8Array, path: string, edit: Edit): Steps<{ after: Uint8Array; count: number }> {
  const text = yield* strict(before, path);
  const replaced = yield* replacing(text, edit.search, edit.replacement, optionsOf(edit).all, path);
  yield;
  return { after: yield* encoded(replaced.text), count: replaced.count };
}

/** Stores the edited bytes. Returns false if the file no longer holds `before`. */
export function putEdited(view: View, path: string, edit: Edit, before: Uint8Array, after: Uint8Array): boolean {
  const place = placeOf(view, path, edit);
  const { file } = place;
  if (file.size !== before.length || !sameBytes(fileBytes(view, file, path), before, file.size)) return false;
  put(view, place, after, path);
  return true;
}

interface Place {
  readonly file: FileNode;
  readonly parent: Location;
  readonly name: string;
  /** True to replace every occurrence. */
  readonly all: boolean;
}

/** Checks the arguments and returns the file. */
function placeOf(view: View, path: string, edit: Edit): Place {
  const { all, ifVersion } = optionsOf(edit);
  const node = present(view.find(path, true, 'write', 'open'), 'open', path);
  const { parent, name } = view.at;
  view.context.guard?.check(view.at.path(), 'read', 'open', path, node);
  const found = writable(node, false, path);
  expectVersion(view, found, ifVersion, 'open', path);
  const file = settled(view, parent, name, found, path);
  checkWellFormed(edit.search, 'search', path);
  checkWellFormed(edit.replacement, 'replacement', path);
  return { file, parent, name, all };
}

function optionsOf({ options }: Edit): { readonly all: boolean; readonly ifVersion: string | undefined } {
  const { all, ifVersion } = checkOptions(options, ['all', 'ifVersion'], 'editFile');
  checkVersion(ifVersion);
  return { all: checkBoolean(all, 'all'), ifVersion };
}

function put(view: View, { file, parent, name }: Place, content: string | Uint8Array, path: string): void {
  const next = new FileNode(file.id, touched(file.meta, view.now()));
  fill(view, next, content);
  checkFileSize(view, next.size, file.size, 'write', path);
  reserve(view, next.size - file.size, 0, 'write', path);
  replaceContent(view, parent, name, file, next);
}

function checkWellFormed(text: string, name: string, path: string): void {
  if (typeof text === 'string' && !text.isWellFormed()) {
    throw new FsError('EINVAL', {
      syscall: 'edit',
      path,
      hint: `The ${name} has a lone surrogate, which UTF-8 cannot express`,
    });
  }
}

function textOf(view: View, file: FileNode, path: string): string {
  const text = fileText(view, file, path);
  return text.includes('\ufffd') ? runSteps(strict(fileBytes(view, file, path), path)) : text;
}

/** Decodes bytes that an edit writes back. @throws FsError EINVAL if they are not UTF-8: as text they would change */
function* strict(bytes: Uint8Array, path: string): Steps<string> {
  try {
    return yield* decodedStrictly(bytes);
  } catch (cause) {
    const hint = 'The file is not valid UTF-8: edit its bytes with readFile and writeFile';
    throw new FsError('EINVAL', { syscall: 'edit', path, hint, cause });
  }
}
