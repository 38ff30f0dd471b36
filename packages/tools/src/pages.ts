/** A range of a list. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Maximum length of a result, in UTF-16 code units. */
export const MAX_RESULT_LENGTH = 60_000;

/** Maximum length of one line of a result, in UTF-16 code units. */
const MAX_LINE_LENGTH = 10_000;

/**
 * Formats the lines of a page. The last line says how to get the rest. The page ends before its limit if its lines
 * would exceed {@link MAX_RESULT_LENGTH}.
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

/** Cuts a line after {@link MAX_LINE_LENGTH} code units without splitting a character. */
function cutLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  const end = (line.codePointAt(MAX_LINE_LENGTH - 1) as number) > 0xffff ? MAX_LINE_LENGTH - 1 : MAX_LINE_LENGTH;
  return `${line.slice(0, end)}… [${line.length - end} more characters]`;
}
