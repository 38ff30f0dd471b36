export { collectStates } from './states/collect-states.js';
export type { State, StateKey, StateListing, StateWalk } from './states/state-walk.js';
