export { nextTurn, SLICE_MS, Yielder } from './engine/scheduling/time-slice.js';
