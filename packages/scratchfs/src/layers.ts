export * from '@scratchfs/core/layers';
