export * from '@scratchfs/core/diff';
