import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '@scratchfs/testkit';
import { afterAll, expect, it } from 'vitest';
import { Directories, fill } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

/** Edits of each side. `npm run campaign -- workspace/two-writers` makes 10,000. */
const EDITS = Number(process.env['TWO_WRITERS'] ?? 600);
const SEED = Number(process.env['SEED'] ?? 20261126);
const EDITS_PER_FILE = 4;
const LINES = 120;

const directories = new Directories();
afterAll(() => directories.remove());

/** Replaces, inserts and removes lines. Each new line is unlike the others, so that a lost one is noticed. */
function edited(lines: readonly string[], who: string, random: Random): { text: string; added: string[] } {
  const result = [...lines];
  const added: string[] = [];
  for (let count = 0; count < EDITS_PER_FILE; count++) {
    const at = random.below(result.length);
    const line = `${who} ${random.next()}`;
    const removed = random.below(3);
    const isRemoval = removed > 0 && random.below(4) === 0;
    result.splice(at, removed, ...(isRemoval ? [] : [line]));
    if (!isRemoval) added.push(line);
  }
  return { text: `${result.join('\n')}\n`, added: added.filter((line) => result.includes(line)) };
}

it(`an accept beside ${EDITS} edits of a person loses no line, and has the conflicts of git merge-file`, async () => {
  const random = new Random(SEED);
  const disk = directories.directory();
  const files = Array.from({ length: Math.ceil(EDITS / EDITS_PER_FILE) }, (_, i) => `f${i}`);
  const base = files.map((name) => Array.from({ length: LINES }, (_, i) => `${name} line ${i % 100}`));
  for (const [i, name] of files.entries()) fill(disk, { [name]: `${base[i]?.join('\n')}\n` });
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  const attempt = await workspace.attempt();
  const agent = base.map((lines) => edited(lines, 'agent', random));
  const person = base.map((lines) => edited(lines, 'person', random));
  await attempt.operation({}, async (fs) => {
    for (const [i, name] of files.entries()) await fs.writeFile(`/${name}`, agent[i]?.text as string);
  });
  for (const [i, name] of files.entries()) fill(disk, { [name]: person[i]?.text as string });

  const git = directories.directory();
  const expected = files.map((_, i) => {
    const sides = [person[i]?.text, `${base[i]?.join('\n')}\n`, agent[i]?.text];
    const paths = sides.map((text, side) => {
      writeFileSync(join(git, `${side}`), text as string);
      return join(git, `${side}`);
    });
    const { status, stdout } = spawnSync('git', ['merge-file', '-p', ...paths], { encoding: 'utf8' });
    return { isConflict: status !== 0, text: stdout };
  });

  const { accepted, conflicts, success } = await attempt.accept({ onConflict: 'skip' });
  expect(success).toBe(true);
  const conflicting = files.filter((_, i) => expected[i]?.isConflict === true).map((name) => `/${name}`);
  expect(conflicts.map(({ path }) => path)).toEqual(conflicting.sort());
  expect(accepted.length + conflicts.length).toBe(files.length);
  for (const [i, name] of files.entries()) {
    const now = readFileSync(join(disk, name), 'utf8');
    if (expected[i]?.isConflict === true) {
      // Both versions are kept.
      expect(now).toBe(person[i]?.text);
      expect(await attempt.fileSystem.readText(`/${name}`)).toBe(agent[i]?.text);
      continue;
    }
    expect(now).toBe(expected[i]?.text);
    for (const line of [...(agent[i]?.added ?? []), ...(person[i]?.added ?? [])]) expect(now).toContain(`${line}\n`);
  }
});
