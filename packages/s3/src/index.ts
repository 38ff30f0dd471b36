export { ObjectTreeBackend } from '@scratchfs/core/object-tree';
