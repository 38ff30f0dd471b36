import type { Call, Result } from '../table/command-spec.js';
import { takeSteps } from '../workspace/step-back.js';

export function run(call: Call): Promise<Result> {
  return takeSteps(call, 'Redid', 'nothing-to-redo', (attempt, options) => attempt.redo(options));
}
