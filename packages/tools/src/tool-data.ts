import type { EntryKind } from '@scratchfs/core';
import type { Media } from './tool.js';

/** A page of a list. */
export interface PageData {
  /** Number of items of the whole list, as far as they were counted. */
  readonly total: number;
  /** The `offset` to continue with. Undefined if the page is the last. */
  readonly nextOffset?: number | undefined;
}

export interface ReadFileData {
  readonly path: string;
  /**
   * Numbers of the first and the last line returned, from 1 on. Undefined if no line was returned, and for a piece that
   * was read by characters.
   */
  readonly firstLine?: number | undefined;
  readonly lastLine?: number | undefined;
  readonly totalLines?: number | undefined;
  /**
   * The `offset` to continue with: a line. Undefined at the end of the file, and for a piece that was read by
   * characters.
   */
  readonly nextOffset?: number | undefined;
  /** Unicode code points of the whole file, for a piece that was read by characters. */
  readonly totalChars?: number | undefined;
  /** The `char_offset` to continue with, for a piece that was read by characters. Undefined at the end of the file. */
  readonly nextCharOffset?: number | undefined;
}

export interface ListedEntryData {
  readonly path: string;
  /** Undefined if the sandbox has no filesystem. */
  readonly kind?: EntryKind | undefined;
  /** Bytes of a file; 0 for a directory, length of a link's target. Undefined if the sandbox has no filesystem. */
  readonly size?: number | undefined;
}

export interface FileInfoData {
  readonly path: string;
  readonly kind: EntryKind;
  /** Size of a file in bytes. */
  readonly size?: number | undefined;
  /** Time of the last change of the content (mtime), in ISO 8601. */
  readonly modified: string;
  /** Permission bits in octal, such as `644`. */
  readonly mode: string;
  /** Content of a file: `text` in UTF-8, `empty`, or another kind in words. Undefined if it cannot be read. */
  readonly content?: string | undefined;
  readonly mediaType?: Media['type'] | undefined;
  /** Number of visible entries of a directory. */
  readonly entries?: number | undefined;
  /** Path that a link leads to. Undefined if the link cannot be followed or leads out of the sandbox. */
  readonly target?: string | undefined;
}

/** Data of results by the name of the tool. Results of a legacy name have the data of the current one. */
export interface ToolData {
  readonly read_file: ReadFileData;
  readonly read_media: { readonly path: string; readonly mediaType: Media['type']; readonly size: number };
  readonly write_file: { readonly path: string; readonly characters: number };
  readonly list_files: PageData & { readonly entries: readonly ListedEntryData[] };
  readonly file_info: FileInfoData;
  readonly make_directory: { readonly path: string; readonly created: boolean };
  readonly edit_file: {
    readonly path: string;
    /** Number of pieces of text that were replaced, or in a dry run would be. */
    readonly replaced: number;
    readonly dryRun: boolean;
    /** Unified diff, as far as the text has it. */
    readonly diff: string;
  };
  readonly delete_file: { readonly path: string };
  readonly move_file: {
    readonly from: string;
    readonly to: string;
    /** Kind of the entry that had the new name before. */
    readonly replaced?: EntryKind | undefined;
  };
  readonly search_files: PageData & { readonly paths: readonly string[] };
  readonly grep: PageData & {
    readonly matches: readonly { readonly path: string; readonly line: number }[];
    /** False if there may be more matches than `total`. */
    readonly isCounted: boolean;
  };
  readonly checkpoint: { readonly name: string };
  readonly rollback: { readonly checkpoint: string };
  readonly diff: PageData & { readonly from: string; readonly to?: string | undefined };
}

/** Data of the results of a tool. */
export type DataOf<N extends string> = N extends keyof ToolData ? ToolData[N] : unknown;
