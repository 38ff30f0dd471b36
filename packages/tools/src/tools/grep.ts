import { type GrepMatch, grep as search } from '@scratchfs/core/search';
import type { Authorizer } from '../authorizer.js';
import { type LinearMatcher, linearMatcher, SearchStopped } from '../linear-matcher.js';
import { pageOf } from '../pages.js';
import type { ToolCallOptions } from '../tool.js';
import { type Definition, inWordsOf, limit, offset, path, quote, yes } from './define.js';

interface Input {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly literal: boolean;
  readonly ignore_case: boolean;
  readonly context: number;
  readonly offset: number;
  readonly limit: number;
}

export const grep: Definition = {
  name: 'grep',
  rule: 'sandbox.read',
  description:
    'Finds the lines of text files that match a regular expression (RE2 syntax: no look-around, no back-references), as path:line: text.',
  properties: {
    pattern: path('What to search for.'),
    path: path("A file, or a directory to search whole. Default '.', all that may be read."),
    glob: path('Only files whose name looks like this, such as *.ts.'),
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
    const { pattern, path: top = '.', literal, offset: start, limit: count } = input;
    const matcher = literal ? undefined : linearMatcher(pattern, input.ignore_case);
    await authorizer.permit(
      {
        tool: 'grep',
        rule: 'sandbox.read',
        uses: [{ path: top, access: 'read', isTree: true }],
        summary: `Search the contents of ${quote(top)} for ${quote(pattern)}`,
      },
      call,
    );
    const found = await matchesIn(authorizer, top, input, matcher, start + count + 1, call);
    const blocks = found.matches.map((match) => blockOf(authorizer.sandbox.show(match.path) ?? match.path, match));
    const notes = [pageOf(blocks, { offset: start, limit: count }, 'matches', 'grep')];
    if (found.isStopped) notes.push('[The search was stopped, because it took too long: narrow it with path or glob.]');
    if (matcher?.hasCut === true)
      notes.push(`[Of longer lines only the first ${matcher.maxLine} characters were searched.]`);
    return notes.join('\n');
  },
};

interface Found {
  readonly matches: readonly GrepMatch[];
  readonly isStopped: boolean;
}

async function matchesIn(
  authorizer: Authorizer,
  top: string,
  { pattern, glob, ignore_case: ignoreCase, context }: Input,
  matcher: LinearMatcher | undefined,
  maxMatches: number,
  call: ToolCallOptions,
): Promise<Found> {
  const { sandbox } = authorizer;
  const paths = rootsOf(authorizer, top);
  const options = {
    paths,
    dot: true,
    context,
    maxMatches,
    ...(glob === undefined ? {} : { glob: `**/${glob}` }),
    ...(matcher === undefined ? { ignoreCase } : {}),
    ...call,
  };
  const matches: GrepMatch[] = [];
  try {
    await inWordsOf(
      authorizer,
      async () => {
        for await (const match of search(sandbox.fileSystem, matcher ?? pattern, options)) matches.push(match);
      },
      top,
    );
  } catch (error) {
    if (error instanceof SearchStopped) return { matches, isStopped: true };
    throw error;
  }
  return { matches, isStopped: false };
}

/**
 * Returns the directories to search. The root of a sandbox with named roots has no path, so its roots are searched one
 * by one.
 */
function rootsOf({ sandbox }: Authorizer, top: string): string[] {
  try {
    return [sandbox.locate(top)];
  } catch (error) {
    if (!/^[./\\]+$/.test(top) || top.includes('..')) throw error;
    return sandbox.readableRoots.map((root) => sandbox.locate(root));
  }
}

function blockOf(path: string, { line, text, before, after }: GrepMatch): string {
  const first = line - before.length;
  return [
    ...before.map((each, i) => `${path}-${first + i}- ${each}`),
    `${path}:${line}: ${text}`,
    ...after.map((each, i) => `${path}-${line + 1 + i}- ${each}`),
  ].join('\n');
}
