import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Runs a full garbage collection immediately. */
export const collectGarbage = runInNewContext('gc') as () => void;
