import { dirname } from 'node:path';
import { McpWorkspaceServer } from '@scratchfs/mcp';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HAS_NODE_24, programOf, runInNode24, serve, TOKEN } from './other-node.js';
import { grounds } from './program.js';

const inspector = programOf('inspector', 'clients', 'launcher', 'build', 'index.js');

// The program needs a newer Node than this repository.
describe.skipIf(!HAS_NODE_24).each(['legacy', 'modern'])('the command line of the Inspector, in the %s era', (era) => {
  const options = ['--cli', '--protocol-era', era, '--method', 'tools/list', '--strict'];

  it('finds no fault with the tools over stdio', async () => {
    const { args, env, directory } = grounds({ a: 'a' });
    const { code, output } = await runInNode24([inspector, ...options, process.execPath, ...args()], {
      cwd: dirname(directory),
      env,
    });
    expect(output).toContain('"accept"');
    expect(code).toBe(0);
  });

  it('finds no fault with the tools over HTTP', async () => {
    const { env, directory } = grounds({ a: 'a' });
    const server = new McpWorkspaceServer(() => openWorkspace(directory, { store: 'memory:' }));
    onTestFinished(() => server.close());
    const { url } = await serve(server);
    const over = ['--transport', 'http', '--server-url', url, '--header', `Authorization: Bearer ${TOKEN}`];
    const { code, output } = await runInNode24([inspector, ...options, ...over], { cwd: dirname(directory), env });
    expect(output).toContain('"accept"');
    expect(code).toBe(0);
  });
});
