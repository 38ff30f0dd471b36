import type { Call, Result } from '../table/command-spec.js';
import { completionScript } from '../table/completion.js';

export async function run({ args: [shell = ''], table }: Call): Promise<Result> {
  const script = completionScript(table, shell);
  return { lines: [script.trimEnd()], json: { shell, script } };
}
