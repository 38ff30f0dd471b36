/** A part of a list, and how a model gets the rest. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Text that one answer may have, in UTF-16 units. */
export const MAX_RESULT_LENGTH = 60_000;

/** Text that one line of an answer may have. */
const MAX_LINE_LENGTH = 10_000;

/**
 * Lines of a page, with a last line that says what is missing. Where the lines of the page are too long for one
 * answer, it ends before its limit.
 */
export function pageOf(lines: readonly string[], { offset, limit }: Page, what: string, tool: string): string {
  const shown: string[] = [];
  let length = 0;
  for (const whole of lines.slice(offset, offset + limit)) {
    const line = cutLine(whole);
    length += line.length + 1;
    if (length > MAX_RESULT_LENGTH && shown.length > 0) break;
    shown.push(line);
  }
  const next = offset + shown.length;
  if (shown.length === 0) {
    return lines.length === 0
      ? `No ${what}.`
      : `[There are ${lines.length} ${what}: offset ${offset} is past the last.]`;
  }
  if (next < lines.length) {
    shown.push(`[${what} ${offset + 1} to ${next} of ${lines.length}. To go on, call ${tool} with offset ${next}.]`);
  }
  return shown.join('\n');
}

/** A line that is too long for a model, without its end. No character is split. */
function cutLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  const end = (line.codePointAt(MAX_LINE_LENGTH - 1) as number) > 0xffff ? MAX_LINE_LENGTH - 1 : MAX_LINE_LENGTH;
  return `${line.slice(0, end)}… [${line.length - end} more characters]`;
}
