export { type FileFunction, type FunctionFile, isContentLoading } from '@scratchfs/core/function-files';
