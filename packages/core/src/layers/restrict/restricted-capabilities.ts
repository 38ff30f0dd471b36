import type { StateCall } from '../../engine/guard.js';
import type { Capabilities } from '../../file-system.js';
import type { GuardChain } from './guard-chain.js';

/** Returns the abilities of an engine filesystem under guards. */
export function restrictedCapabilities(inner: Capabilities, guards: GuardChain): Capabilities {
  const may = (...calls: StateCall[]): boolean => calls.every((call) => guards.allowsState(call));
  const writes = inner.writes && guards.allowsChange();
  return Object.freeze({
    ...inner,
    checkpoints: inner.checkpoints && may('checkpoint', 'drop'),
    rollback: inner.rollback && writes && may('rollback'),
    restore: inner.restore && writes && may('restore'),
    writes,
  });
}

/** Returns the abilities of a filesystem that is known only by its methods, under guards. */
export function genericCapabilities(inner: Capabilities, guards: GuardChain): Capabilities {
  const common = restrictedCapabilities(inner, guards);
  return Object.freeze({
    ...common,
    rollback: common.rollback && guards.isFree(),
    diff: common.diff && guards.isOpen(),
    restore: false,
  });
}
