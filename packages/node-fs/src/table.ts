import type { Operation } from './operation.js';
import * as contents from './operations/contents.js';
import * as metadata from './operations/metadata.js';
import * as names from './operations/names.js';

/** Every function that has all three forms, under its name. */
export const OPERATIONS = { ...contents, ...metadata, ...names } as unknown as Readonly<Record<string, Operation>>;
