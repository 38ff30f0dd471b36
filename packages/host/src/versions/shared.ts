import { HostHistory } from './host-history.js';

/** History in the memory of this process, shared by all functions below. */
const shared = new HostHistory();

/** {@link HostHistory.onboardRepo} on versions in the memory of this process. */
export const onboardRepo: HostHistory['onboardRepo'] = (...args) => shared.onboardRepo(...args);

/** {@link HostHistory.createSnapshot} on versions in the memory of this process. */
export const createSnapshot: HostHistory['createSnapshot'] = (...args) => shared.createSnapshot(...args);

/** {@link HostHistory.checkoutSnapshot} on versions in the memory of this process. */
export const checkoutSnapshot: HostHistory['checkoutSnapshot'] = (...args) => shared.checkoutSnapshot(...args);

/** {@link HostHistory.rollback} on versions in the memory of this process. */
export const rollback: HostHistory['rollback'] = (...args) => shared.rollback(...args);

/** {@link HostHistory.diffSnapshots} on versions in the memory of this process. */
export const diffSnapshots: HostHistory['diffSnapshots'] = (...args) => shared.diffSnapshots(...args);

/** {@link HostHistory.formatDiffForDisplay} on versions in the memory of this process. */
export const formatDiffForDisplay: HostHistory['formatDiffForDisplay'] = (...args) =>
  shared.formatDiffForDisplay(...args);

/** {@link HostHistory.readCommit} on versions in the memory of this process. */
export const readCommit: HostHistory['readCommit'] = (...args) => shared.readCommit(...args);

/** {@link HostHistory.executeMerge} on versions in the memory of this process. */
export const executeMerge: HostHistory['executeMerge'] = (...args) => shared.executeMerge(...args);
