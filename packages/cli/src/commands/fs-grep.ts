import type { GrepMatch } from '@scratchfs/core/search';
import { ExitCode, usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';
import { count } from '../terminal/quantities.js';

/** A search stops after this number of matches. */
const MAX_MATCHES = 100_000;

export async function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const [text = '', ...places] = args;
  const context = options.text('context') ?? '0';
  if (!/^\d{1,3}$/.test(context) || Number(context) > 100)
    throw usageError('--context must be a number from 0 to 100.');
  if (text === '' || /[\r\n]/.test(text)) throw usageError('TEXT must be one line and not empty.');
  const { grep } = await import('@scratchfs/core/search');
  return withTarget(call, 'read', ({ fileSystem, path }) =>
    output.progress('Searching', async (report) => {
      const pattern = options.text('glob');
      const found = grep(fileSystem, text, {
        paths: places.length === 0 ? [path('.')] : places.map(path),
        ...(pattern === undefined ? {} : { glob: pattern }),
        ignoreCase: options.flag('ignore-case'),
        context: Number(context),
        dot: true,
        maxMatches: MAX_MATCHES,
        signal,
      });
      const matches = [];
      for await (const match of found) {
        matches.push(match);
        report(`${count(matches.length, 'match', 'matches')} found`);
      }
      const code = matches.length === 0 ? ExitCode.failed : ExitCode.ok;
      if (options.flag('files-with-matches')) {
        const paths = [...new Set(matches.map((match) => match.path))];
        return { code, lines: paths.map((one) => output.style.moved(output.listed(one))), json: { paths } };
      }
      return { code, lines: matches.flatMap((match) => matchLines(match, call)), json: { matches } };
    }),
  );
}

/**
 * Returns a match as grep prints it: `path:line:text`, and lines of context with `-`. After a match with context there
 * is an empty line.
 */
function matchLines(match: GrepMatch, call: Call): string[] {
  const { output } = call;
  const { style } = output;
  const hasContext = match.before.length + match.after.length > 0;
  const place = (line: number, sign: string): string =>
    `${style.moved(output.listed(match.path))}${sign}${style.added(String(line))}${sign}`;
  let shown = '';
  let end = 0;
  for (const range of match.ranges) {
    shown +=
      output.content(match.text.slice(end, range.start)) +
      style.match(output.content(match.text.slice(range.start, range.end)));
    end = range.end;
  }
  shown += output.content(match.text.slice(end));
  const first = match.line - match.before.length;
  return [
    ...match.before.map((text, index) => place(first + index, '-') + output.content(text)),
    place(match.line, ':') + shown,
    ...match.after.map((text, index) => place(match.line + 1 + index, '-') + output.content(text)),
    ...(hasContext ? [''] : []),
  ];
}
