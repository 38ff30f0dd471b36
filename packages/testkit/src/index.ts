export type { Data } from './data.js';
export { bytesOf } from './data.js';
export { HOSTILE_NAMES, LONG_NAMES, TOO_LONG_NAMES } from './names.js';
export type { OperationArgs, OperationName, Step, StepsOptions, TargetKind } from './operations.js';
export { ALL_OPERATIONS, DISK_OPERATIONS, SLOTS, TARGET_KINDS } from './operations.js';
export { Random } from './random.js';
