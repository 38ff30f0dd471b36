import { existsSync, readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, onTestFinished } from 'vitest';
import { grounds } from './program.js';

const LINE = 'const value = compute(someArgument, other) + 17; // a usual line of text\n';
const text = (bytes: number): string => LINE.repeat(bytes / LINE.length);
/** Greatest memory in MB that the program may take. Run from its sources it takes 100 MB more than built. */
const MAX_MB = 600;
/** Time for each search. On an idle machine each takes less than a second. */
const MAX_MS = 120_000;
const MAX_CHARACTERS = 40_000;

it.skipIf(!existsSync('/proc/self/status'))(
  'grep through 42 MB of text takes bounded time, memory and characters, and says if it has stopped (reads /proc)',
  async () => {
    const small = Array.from({ length: 22 }, (_, i) => [`small${i}.ts`, text(1e6)]);
    const { args, env } = grounds({ ...Object.fromEntries(small), 'large.ts': text(20e6) });
    const client = new Client({ name: 'tester', version: '1' });
    const transport = new StdioClientTransport({ command: process.execPath, args: args(), env });
    await client.connect(transport);
    onTestFinished(() => client.close());
    const grep = async (input: object): Promise<string> => {
      const call = { name: 'grep', arguments: { ...input } };
      const { content } = await client.callTool(call, { timeout: MAX_MS });
      const found = content[0]?.type === 'text' ? content[0].text : '';
      expect(found.length).toBeLessThanOrEqual(MAX_CHARACTERS);
      return found;
    };
    expect(await grep({ pattern: 'not in it', literal: true })).toBe('No matches.');
    expect(await grep({ pattern: '(value|other).*zzz' })).toContain(
      'No matches so far.\n[The search was stopped after',
    );
    expect(await grep({ pattern: '(value|other).*zzz', path: '/small0.ts' })).toBe('No matches.');
    expect(await grep({ pattern: 'compute', limit: 100 })).toContain(
      'at least 10000. To go on, call grep with offset 100.',
    );
    expect(await grep({ pattern: 'compute', limit: 500 })).toContain('[The rest was cut.');
    const status = readFileSync(`/proc/${transport.pid}/status`, 'utf8');
    expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024).toBeLessThan(MAX_MB);
  },
  600_000,
);
