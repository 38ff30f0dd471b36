import { MAX_RESULT_LENGTH } from '../server/results.js';

/** Room for the line that says how to go on, in UTF-16 units. */
const LINE_LENGTH = 200;

const ADVICE: Readonly<Record<string, string>> = {
  read_multiple_files: 'Read fewer files at a time.',
  directory_tree: 'Ask for a directory under it, or leave some out by excludePatterns.',
  search_files: 'Ask for a directory under it, or leave some out by excludePatterns.',
  list_directory: 'search_files finds names by a pattern.',
  list_directory_with_sizes: 'search_files finds names by a pattern.',
};

/**
 * Cuts a text that is too long, at the end of a line unless its first line is too long, and says how to go on. For a
 * text file it names the value of `tail` that returns the rest, if there is one.
 * @param hasHead true if the call had `head`, so that the text does not end at the end of the file
 */
export function cutForProfile(text: string, tool: string, hasHead: boolean): string {
  if (text.length <= MAX_RESULT_LENGTH) return text;
  const room = MAX_RESULT_LENGTH - LINE_LENGTH;
  const end = text.lastIndexOf('\n', room);
  const shown = text.slice(0, end <= 0 ? room : end).toWellFormed();
  const isRead = tool === 'read_text_file' || tool === 'read_file';
  const rest = end <= 0 ? 0 : text.slice(end + 1).split('\n').length;
  const advice =
    isRead && !hasHead && rest > 0 ? `To go on, call ${tool} with tail: ${rest}.` : (ADVICE[tool] ?? 'Ask for less.');
  return `${shown}\n[Cut: ${text.length - shown.length} of ${text.length} characters are not shown. ${advice}]`;
}
