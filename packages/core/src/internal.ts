export { FILE_SYSTEM_OPTIONS } from './create-file-system.js';
export { checkOptions } from './engine/arguments.js';
export { needsSync } from './engine/internals.js';
export { driveAsync, driveSync, type Procedure } from './engine/scheduling/both-forms.js';
export { collectItems, nextTurn, SLICE_MS, Yielder } from './engine/scheduling/time-slice.js';
export { limitError } from './engine/view/limit-error.js';
export { type CallSequence, invoke, runCalls, runCallsSync } from './layers/call-sequence.js';
export { PathWalk } from './layers/path-walk.js';
export { MAX_LINK_HOPS } from './paths.js';
