export * from '@scratchfs/core/working-copy';
