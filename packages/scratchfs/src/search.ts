export * from '@scratchfs/core/search';
