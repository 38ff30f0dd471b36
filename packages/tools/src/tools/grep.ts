import { FsError } from '@scratchfs/core';
import { nameInList } from '@scratchfs/core/internal';
import { type GrepMatch, grep as search } from '@scratchfs/core/search';
import { SuffixNotAllowedError } from '@scratchfs/sandbox';
import type { Authorizer } from '../authorizer.js';
import { type LinearMatcher, linearMatcher, plainTextOf } from '../linear-matcher.js';
import { formatPage } from '../pages.js';
import type { ToolCallOptions } from '../tool.js';
import { type Definition, inWordsOf, limit, offset, path, quote, yes } from './define.js';
import { anywhere, exclude } from './exclusion.js';

interface Input {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly exclude?: string;
  readonly literal: boolean;
  readonly ignore_case: boolean;
  readonly context: number;
  readonly offset: number;
  readonly limit: number;
}

export const grep: Definition<'grep'> = {
  name: 'grep',
  rule: 'sandbox.read',
  description:
    'Finds the lines of text files that match a regular expression (RE2 syntax: no look-around, no back-references), as path:line: text.',
  properties: {
    pattern: path('What to search for.'),
    path: path("A file, or a directory to search whole. Default '.', all that may be read."),
    glob: path('Only files whose name looks like this, such as *.ts.'),
    exclude,
    literal: yes('The pattern is plain text, not an expression. Default false.'),
    ignore_case: yes('Upper and lower case are the same. Default false.'),
    context: {
      type: 'integer',
      description: 'Lines to show before and after each match. Default 0.',
      minimum: 0,
      maximum: 20,
      default: 0,
    },
    offset: offset('matches'),
    limit: limit('matches', 100, 500),
  },
  required: ['pattern'],
  async run(authorizer, input: Input, call) {
    const { pattern, path: top = '.', literal, offset: start } = input;
    const plain = literal ? pattern : plainTextOf(pattern);
    const matcher = plain ?? linearMatcher(pattern, input.ignore_case);
    await authorizer.permit(
      {
        tool: 'grep',
        rule: 'sandbox.read',
        uses: [{ path: top, access: 'read', isTree: true }],
        summary: `Search the contents of ${quote(top)} for ${quote(pattern)}`,
      },
      call,
    );
    const found = await matchesIn(authorizer, top, input, matcher, call);
    const { sandbox } = authorizer;
    const named = found.shown.map((match) => ({ ...match, path: sandbox.show(match.path) ?? match.path }));
    const { total, isCounted } = found;
    const page = formatPage({ lines: named.map(blockOf), total, isCounted }, start, 'matches', 'grep');
    const notes = [page.text];
    if (found.isStopped)
      notes.push('[The search was stopped after as much text as one call searches: narrow it with path or glob.]');
    if (typeof matcher !== 'string' && matcher.hasCut)
      notes.push(`[Of longer lines only the first ${matcher.maxLine} characters were searched.]`);
    const matches = named.slice(0, page.count).map(({ path: file, line }) => ({ path: file, line }));
    return {
      text: notes.join('\n'),
      structured: { matches, ...page.data, isCounted },
      links: matches.map((match) => match.path),
    };
  },
};

/** Number of matches at which counting stops, unless the page is not full yet. */
const MAX_COUNTED_MATCHES = 10_000;
/** Time for counting after the page is full, in milliseconds. */
const COUNTING_MS = 2_000;

interface Found {
  /** Matches of the page. */
  readonly shown: readonly GrepMatch[];
  readonly total: number;
  /** False if there may be more matches than `total`. */
  readonly isCounted: boolean;
  /** True if the search was stopped before the page was full and one more match was found. */
  readonly isStopped: boolean;
}

async function matchesIn(
  authorizer: Authorizer,
  top: string,
  { glob, exclude: unwanted, ignore_case: ignoreCase, context, offset: start, limit: count }: Input,
  matcher: LinearMatcher | string,
  call: ToolCallOptions,
): Promise<Found> {
  const { sandbox } = authorizer;
  const paths = rootsOf(authorizer, top);
  const full = start + count + 1;
  const maxMatches = Math.max(MAX_COUNTED_MATCHES, full);
  const counting = new AbortController();
  const options = {
    paths,
    dot: true,
    context,
    maxMatches,
    ...(glob === undefined ? {} : { glob: anywhere(glob) }),
    ...(unwanted === undefined ? {} : { exclude: anywhere(unwanted) }),
    ...(typeof matcher === 'string' ? { ignoreCase } : {}),
    signal: call.signal === undefined ? counting.signal : AbortSignal.any([call.signal, counting.signal]),
  };
  const shown: GrepMatch[] = [];
  let total = 0;
  let timeout: ReturnType<typeof setTimeout> | undefined;
  try {
    await inWordsOf(
      authorizer,
      async () => {
        for await (const match of search(sandbox.fileSystem, matcher, options)) {
          if (total >= start && total < start + count) shown.push(match);
          total += 1;
          if (counting.signal.aborted) break;
          if (total === full) timeout = setTimeout(() => counting.abort(), COUNTING_MS);
        }
      },
      top,
    );
  } catch (error) {
    call.signal?.throwIfAborted();
    // Listings leave out files with a wrong suffix, so a search in one reports that it does not exist.
    if (error instanceof SuffixNotAllowedError) throw new FsError('ENOENT', { syscall: 'grep', path: top });
    // A search that was stopped, by its limit of steps or while it only counted, returns what it has found.
    const isStopped = typeof matcher !== 'string' && matcher.isStopped;
    if (!isStopped && !counting.signal.aborted) throw error;
    return { shown, total, isCounted: false, isStopped: total < full };
  } finally {
    clearTimeout(timeout);
  }
  return { shown, total, isCounted: total < maxMatches && !counting.signal.aborted, isStopped: false };
}

/**
 * Returns the paths to search. The root of a sandbox with named roots has no path, so its roots are searched one by
 * one.
 */
function rootsOf({ sandbox }: Authorizer, top: string): string[] {
  try {
    return [sandbox.locate(top)];
  } catch (error) {
    if (!/^[./\\]+$/.test(top) || top.includes('..')) throw error;
    return sandbox.readableRoots.map((root) => sandbox.locate(root));
  }
}

function blockOf({ path: file, line, text, before, after }: GrepMatch): string {
  const path = nameInList(file);
  const first = line - before.length;
  return [
    ...before.map((each, i) => `${path}-${first + i}- ${each}`),
    `${path}:${line}: ${text}`,
    ...after.map((each, i) => `${path}-${line + 1 + i}- ${each}`),
  ].join('\n');
}
