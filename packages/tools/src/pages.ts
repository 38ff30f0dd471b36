import type { PageData } from './tool-data.js';

/** A range of a list. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Maximum length of a result without its notes, in UTF-16 code units. */
export const MAX_RESULT_LENGTH = 60_000;

/** Maximum length of one line of a result, in UTF-16 code units. */
const MAX_LINE_LENGTH = 10_000;

/** Lines of a page, and the size of the list that they come from. */
export interface PageContent {
  /** Lines from the offset on. */
  readonly lines: readonly string[];
  /** Number of lines of the whole list, as far as they were counted. */
  readonly total: number;
  /** False if the list was not counted to its end. Default true. */
  readonly isCounted?: boolean;
}

/** A formatted page. */
export interface FormattedPage {
  readonly text: string;
  /** Number of lines of the list in the text. */
  readonly count: number;
  readonly data: PageData;
}

/** Formats a page of a list that is known as a whole. See {@link formatPage}. */
export function pageOf(lines: readonly string[], page: Page, what: string, tool: string): FormattedPage {
  const { offset, limit } = page;
  return formatPage({ lines: lines.slice(offset, offset + limit), total: lines.length }, offset, what, tool);
}

/**
 * Formats the lines of a page. If there are more, a last line says how to get them. The page ends early if its lines
 * would exceed {@link MAX_RESULT_LENGTH}.
 */
export function formatPage(content: PageContent, offset: number, what: string, tool: string): FormattedPage {
  const { lines, total, isCounted = true } = content;
  const shown: string[] = [];
  let length = 0;
  for (const whole of lines) {
    const line = cutLine(whole);
    length += line.length + 1;
    if (length > MAX_RESULT_LENGTH && shown.length > 0) break;
    shown.push(line);
  }
  const taken = shown.length;
  const next = offset + taken;
  const count = isCounted ? `${total}` : `at least ${total}`;
  if (taken === 0) {
    const text =
      total === 0
        ? `No ${what}${isCounted ? '' : ' so far'}.`
        : `[There are ${count} ${what}: offset ${offset} is past the last.]`;
    return { text, count: 0, data: { total } };
  }
  const hasMore = next < total;
  if (hasMore)
    shown.push(`[${what} ${offset + 1} to ${next} of ${count}. To go on, call ${tool} with offset ${next}.]`);
  return { text: shown.join('\n'), count: taken, data: { total, ...(hasMore && { nextOffset: next }) } };
}

/** Cuts a line after at most {@link MAX_LINE_LENGTH} code units without splitting a surrogate pair. */
function cutLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  const end = (line.codePointAt(MAX_LINE_LENGTH - 1) as number) > 0xffff ? MAX_LINE_LENGTH - 1 : MAX_LINE_LENGTH;
  return `${line.slice(0, end)}… [${line.length - end} more characters]`;
}
