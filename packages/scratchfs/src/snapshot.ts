export * from '@scratchfs/core/snapshot';
