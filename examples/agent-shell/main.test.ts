import { expect, it } from 'vitest';
import { runExample } from '../run-example.js';

it('an agent works in a shell; the effects of a careless command are rolled back', async () => {
  const { code, output } = await runExample('agent-shell/main.ts');
  const steps = output.split('\n● ');
  const ends = steps.slice(1).map((step) => /→ (.*)/.exec(step)?.[1]);
  expect(ends).toEqual(['kept', 'kept', 'taken back: the check failed', 'taken back: exit code 1', 'kept']);
  expect(steps[1]).toContain('notes/monday.md:4:- TODO call the baker');
  expect(steps[2]).toContain('-pear,95\n');
  expect(steps[2]).toContain('+pear,104\n');
  expect(steps[3]).toContain('deleted file mode 100644');
  expect(steps[4]).toContain('ENOSPC: no space left on device');
  expect(output).toContain('✓ careless steps left no trace');
  expect(code).toBe(0);
});
