import type { Call, Result } from '../table/command-spec.js';
import { takeSteps } from '../workspace/step-back.js';

export function run(call: Call): Promise<Result> {
  return takeSteps(call, 'undo', (attempt, options) => attempt.undo(options));
}
