export { collectStates } from './states/collect-states.js';
export type { StateKey, StateStep, StateWalk } from './states/state-walk.js';
