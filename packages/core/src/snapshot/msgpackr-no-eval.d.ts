/** msgpackr without `new Function`, which Workers forbid. It comes without types. */
declare module 'msgpackr/index-no-eval' {
  export { Packr } from 'msgpackr';
}
