import type { Call, Result } from '../table/command-spec.js';
import { takeSteps } from '../workspace/step-back.js';

export function run(call: Call): Promise<Result> {
  return takeSteps(call, 'redo', (attempt, options) => attempt.redo(options));
}
