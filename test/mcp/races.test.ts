import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, onTestFinished } from 'vitest';
import { Swapper, whyNoRaces } from '../attacks/swapper.js';
import { contentsOf, grounds } from './program.js';

/** Content of everything outside, and the name of a file that is only there. */
const OUTSIDE = 'OUTSIDE-8a1f';
const ONLY_OUTSIDE = 'only-outside-51c2';
/** Number of rounds of calls. `npm run campaign -- mcp/races` runs 1,000. */
const ROUNDS = Number(process.env['MCP_RACE_ROUNDS'] ?? 12);

const reason = whyNoRaces();

it.skipIf(reason !== undefined)(
  `nothing outside is read or changed while another process swaps a directory for a link${reason === undefined ? '' : ` (${reason})`}`,
  async () => {
    const { directory, args, env } = grounds({ 'd/e/f': 'inside\n', 'd/e/g': 'inside\n', notes: 'first\n' });
    const outside = join(dirname(directory), 'outside');
    mkdirSync(outside);
    for (const name of ['f', 'g', ONLY_OUTSIDE]) writeFileSync(join(outside, name), `${OUTSIDE}\n`);
    symlinkSync(outside, join(directory, 'd', 'x'));
    const before = contentsOf(outside);
    const client = new Client({ name: 'tester', version: '1' }, { capabilities: { elicitation: { form: {} } } });
    const shown: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      shown.push(params.message);
      return { action: 'accept', content: { approve: true } };
    });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: args(), env }));
    onTestFinished(() => client.close());
    const succeeded = new Set<string>();
    const call = async (name: string, input: object = {}): Promise<void> => {
      const result = await client.callTool({ name, arguments: { ...input } });
      shown.push(JSON.stringify(result));
      if (result.isError !== true) succeeded.add(name);
    };
    // Its error repeats the name, so it is not among what was shown.
    const readOutside = async (): Promise<void> => {
      const result = await client.callTool({ name: 'read_file', arguments: { path: `/d/e/${ONLY_OUTSIDE}` } });
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result)).not.toContain(OUTSIDE);
    };
    const accept = () => call('accept', { skip_conflicts: true });
    const swapper = await Swapper.start(join(directory, 'd'), [['e', 'x']], 0.05);
    try {
      for (let i = 0; i < ROUNDS; i++) {
        writeFileSync(join(directory, 'notes'), `person ${i}\n`);
        await Promise.all([
          call('read_file', { path: '/d/e/f' }),
          call('list_files', { path: '/d', pattern: '**' }),
          call('grep', { pattern: 'OUTSIDE|inside' }),
          call('write_file', { path: '/d/e/g', content: `agent ${i}\n` }),
          call('write_file', { path: `/d/e/new${i}`, content: 'agent\n' }),
          call('edit_file', { path: '/d/e/f', edits: [{ old_text: 'ins', new_text: 'iins' }] }),
          readOutside(),
        ]);
        await accept();
        if (i % 3 === 2) await call('undo');
      }
      // A program that opens files by their path does read what is outside.
      await expect.poll(() => readFileSync(join(directory, 'd/e/f'), 'utf8'), { interval: 1 }).toContain(OUTSIDE);
    } finally {
      expect(await swapper.stop()).toBeGreaterThan(100);
    }
    expect(contentsOf(outside)).toEqual(before);
    const all = shown.join('\n');
    expect(all).not.toContain(OUTSIDE);
    expect(all).not.toContain(ONLY_OUTSIDE);
    expect([...succeeded]).toEqual(expect.arrayContaining(['read_file', 'write_file', 'edit_file', 'grep', 'accept']));
  },
  120_000 + ROUNDS * 1_000,
);
