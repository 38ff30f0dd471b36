import { dirname } from 'node:path';
import { McpWorkspaceServer } from '@scratchfs/mcp';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HAS_NODE_24, programOf, runInNode24, serve, TOKEN } from './other-node.js';
import { type Grounds, grounds } from './program.js';

const inspector = programOf('inspector', 'clients', 'launcher', 'build', 'index.js');

/** Arguments of calls, and a part of the output of each. */
const CALLS = [
  [
    ['tools/call', '--tool-name', 'write_file', '--tool-arg', 'path=/new', 'content=from the Inspector'],
    '"operation": 1',
  ],
  [['resources/read', '--uri', 'scratchfs://otter/new'], '"text": "from the Inspector"'],
  [['prompts/get', '--prompt-name', 'what-happened'], '"role": "user"'],
] as const;

const FIRST = ['tools/call', '--tool-name', 'checkpoint'];

// The program needs a newer Node than this repository.
describe.skipIf(!HAS_NODE_24).each(['legacy', 'modern'])('the command line of the Inspector, in the %s era', (era) => {
  const run = (method: readonly string[], target: readonly string[], { env, directory }: Grounds) =>
    runInNode24([inspector, '--cli', '--method', ...method, '--protocol-era', era, ...target], {
      cwd: dirname(directory),
      env,
    });

  const findsNoFault = async (target: readonly string[], project: Grounds): Promise<void> => {
    const { code, output } = await run(['tools/list', '--strict'], target, project);
    expect(output).toContain('"accept"');
    expect(code).toBe(0);
    // Over HTTP without a handshake, the first result names a handle for later calls.
    const [, handle] = /Pass client: \\"(\w+)/.exec((await run(FIRST, target, project)).output) ?? [];
    for (const [method, expected] of CALLS) {
      const more = handle !== undefined && method[0] === 'tools/call' ? [`client=${handle}`] : [];
      const called = await run([...method, ...more], target, project);
      expect(called.output).toContain(expected);
      expect(called.code).toBe(0);
    }
  };

  it('finds no fault with the tools over stdio, calls one, reads a resource and gets a prompt', async () => {
    const project = grounds({ a: 'a' });
    await findsNoFault([process.execPath, ...project.args('--attempt', 'otter')], project);
  });

  it('finds no fault with the tools over HTTP, calls one, reads a resource and gets a prompt', async () => {
    const project = grounds({ a: 'a' });
    const server = new McpWorkspaceServer(() => openWorkspace(project.directory, { store: 'memory:' }), {
      attempt: 'otter',
    });
    onTestFinished(() => server.close());
    const { url } = await serve(server);
    const over = ['--transport', 'http', '--server-url', url, '--header', `Authorization: Bearer ${TOKEN}`];
    await findsNoFault(over, project);
  });
});
