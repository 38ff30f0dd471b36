import type { Capabilities } from '../file-system.js';

/** Abilities of a tree in memory. */
export const ALL_CAPABILITIES: Capabilities = Object.freeze({
  checkpoints: true,
  rollback: true,
  at: true,
  diff: true,
  restore: true,
  transactions: true,
  forks: true,
  sharedWatch: true,
  writes: true,
});

/** Abilities of a filesystem in memory that shows the state of a checkpoint. */
export const CHECKPOINT_CAPABILITIES: Capabilities = Object.freeze({
  ...ALL_CAPABILITIES,
  checkpoints: false,
  rollback: false,
  at: false,
  diff: false,
  restore: false,
  writes: false,
});

/**
 * Returns the abilities inside a transaction: no checkpoints and nothing that needs them, no forks, no nested
 * transactions and no shared watch.
 */
export function inTransaction(capabilities: Capabilities): Capabilities {
  return Object.freeze({
    ...capabilities,
    checkpoints: false,
    rollback: false,
    at: false,
    diff: false,
    transactions: false,
    forks: false,
    sharedWatch: false,
  });
}
