import { asyncMemoryStorage } from '@scratchfs/memory';
import { DefenseInDepthBox } from 'just-bash';
import { createFileSystem } from 'scratchfs';
import { mount, overlay } from 'scratchfs/layers';
import { afterAll, describe, expect, it } from 'vitest';
import { HostFolder } from '../grounds.js';
import { type Difference, differences } from './differences.js';
import { scripts } from './scripts.js';
import { inRealBash, type Outcome, onOurs, onTheirs } from './shells.js';

const aspect = (outcome: Outcome, name: Difference['in']) =>
  name === 'tree' ? JSON.stringify(outcome.tree, null, 1) : outcome[name];

/** Returns bash's result with the known differences applied. */
function expected(real: Outcome, name: Difference['in'], known: readonly Difference[]): string {
  let text = aspect(real, name);
  for (const { in: where, bash, justBash } of known) {
    if (where !== name) continue;
    if (!text.includes(bash)) throw new Error(`bash no longer has ${JSON.stringify(bash)} in ${name}:\n${text}`);
    text = text.replace(bash, () => justBash);
  }
  return text;
}

describe('just-bash on scratchfs', () => {
  it.each(Object.entries(scripts))('does what bash does: %s', async (name, script) => {
    using folder = new HostFolder();
    const real = inRealBash(script, folder.root);
    const ours = await onOurs(script, folder.root);
    const theirs = await onTheirs(script, folder.root);
    const known = differences[name] ?? [];
    expect(ours.stdout).toBe(expected(real, 'stdout', known));
    expect(aspect(ours, 'tree')).toBe(expected(real, 'tree', known));
    expect(ours.exitCode).toBe(real.exitCode);
    // Some commands of just-bash word a message in another way than bash. They do that on its own filesystem too.
    if (ours.stderr !== theirs.stderr || known.some(({ in: where }) => where === 'stderr')) {
      expect(ours.stderr).toBe(expected(real, 'stderr', known));
    }
    for (const where of ['stdout', 'stderr', 'tree'] as const) {
      if (known.some((difference) => difference.in === where)) {
        expect(aspect(theirs, where), `${where} on its own filesystem is that of bash: mend ours`).not.toBe(
          aspect(real, where),
        );
      }
    }
  });

  it('does the same over an asynchronous storage and through layers', async () => {
    const layered = () =>
      mount(createFileSystem(), { '/work': overlay(createFileSystem({ files: { '/home/beneath': '' } })) });
    for (const [name, script] of Object.entries(scripts)) {
      const ours = await onOurs(script, '/work/home');
      const remote = await createFileSystem({ storage: asyncMemoryStorage() });
      expect(await onOurs(script, '/work/home', remote), name).toEqual(ours);
      const { tree } = await onOurs(`rm beneath\n${script}`, '/work/home', layered());
      expect(tree, name).toEqual(ours.tree);
    }
  });

  it('lists differences only of scripts that exist', () => {
    expect(Object.keys(differences).filter((name) => !(name in scripts))).toEqual([]);
  });

  // Every script above ran with the defences on.
  afterAll(() => {
    expect(DefenseInDepthBox.getInstance(true).getStats().violations).toEqual([]);
  });
});
