import type { Subject } from '../subjects/subject.js';
import { done, sum } from './work.js';

/** Size of each small file, in bytes. */
export const SMALL = 200;

/** Files spread evenly over directories. */
export interface Layout {
  readonly files: number;
  readonly directories: number;
  /** Gives files and directories long names, of 27 and 28 characters. */
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
 * Returns the paths of all files in an order that no cache predicts. Each string is new and flat, like a path that a
 * caller has just read: its hash is not computed yet.
 */
export function freshPaths(layout: Layout, suffix = ''): string[] {
  const paths: string[] = [];
  // Prime, so it has no common factor with any count used here.
  for (let i = 0; i < layout.files; i++) {
    const index = (i * 7919) % layout.files;
    paths.push(Buffer.from(fileAt(layout, index) + suffix, 'latin1').toString('latin1'));
  }
  return paths;
}

/** Fill bytes of the first and the rewritten contents. */
export const OLD = 0x61;
export const NEW = 0x62;

export const content = (bytes = SMALL, value = OLD): Uint8Array => new Uint8Array(bytes).fill(value);

/** Creates the directories, and the files if `withFiles`. */
export async function fill(subject: Subject, layout: Layout, withFiles = true): Promise<Subject> {
  await subject.mkdir('/t');
  await sum(subject, layout.directories, (i) => done(subject.mkdir(directoryAt(layout, i))));
  const bytes = content();
  if (withFiles) await sum(subject, layout.files, (i) => done(subject.write(fileAt(layout, i), bytes)));
  return subject;
}
