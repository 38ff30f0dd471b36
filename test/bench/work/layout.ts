import type { Subject } from '../subjects/subject.js';
import { done, sum } from './work.js';

/** Bytes of each of the many small files. */
export const SMALL = 200;

/** Files in directories, evenly. */
export interface Layout {
  readonly files: number;
  readonly directories: number;
  /** Of the names: 27 characters, or a few. */
  readonly isLong: boolean;
}

const digits = (value: number, length: number): string => String(value).padStart(length, '0');

export const directoryAt = ({ isLong }: Layout, index: number): string =>
  isLong ? `/t/directory-of-components-${digits(index, 4)}` : `/t/d${index}`;

export const fileAt = (layout: Layout, index: number): string => {
  const directory = directoryAt(layout, index % layout.directories);
  const serial = Math.floor(index / layout.directories);
  return `${directory}/${layout.isLong ? `component-file-${digits(serial, 8)}.tsx` : `f${serial}`}`;
};

/**
 * The paths of all files in an order that no cache foresees. Each string is new and flat: a caller's path is one that
 * was just read from somewhere, and its hash is not known yet.
 */
export function freshPaths(layout: Layout, suffix = ''): string[] {
  const paths: string[] = [];
  // Prime, and thus without a common factor with any count that is used here.
  for (let i = 0; i < layout.files; i++) {
    const index = (i * 7919) % layout.files;
    paths.push(Buffer.from(fileAt(layout, index) + suffix, 'latin1').toString('latin1'));
  }
  return paths;
}

/** Of files as they are filled, and as they are written anew. */
export const OLD = 0x61;
export const NEW = 0x62;

export const content = (bytes = SMALL, value = OLD): Uint8Array => new Uint8Array(bytes).fill(value);

/** Makes the directories, and the files where they are asked for. */
export async function fill(subject: Subject, layout: Layout, withFiles = true): Promise<Subject> {
  await subject.mkdir('/t');
  await sum(subject, layout.directories, (i) => done(subject.mkdir(directoryAt(layout, i))));
  const bytes = content();
  if (withFiles) await sum(subject, layout.files, (i) => done(subject.write(fileAt(layout, i), bytes)));
  return subject;
}
