export { type GlobSearchOptions, glob, globSync } from './search/glob.js';
export { compileGlob, type Glob, type GlobOptions } from './search/glob-pattern.js';
export { type GrepOptions, grep, grepSync } from './search/grep.js';
export type { GrepMatch } from './search/grep-cursor.js';
export { createMatcher, type LineMatcher, type MatcherOptions, type MatchRange } from './search/line-matcher.js';
export type { LineMatch } from './search/line-scanner.js';
