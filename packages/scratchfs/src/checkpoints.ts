export * from '@scratchfs/core/checkpoints';
