export { ExitCode } from './errors.js';
export { type MainOptions, main } from './main.js';
export { Interrupts } from './terminal/interrupts.js';
export type { OutputStream } from './terminal/output.js';
