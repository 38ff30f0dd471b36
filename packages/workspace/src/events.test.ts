import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createFileSystem, type FileSystem } from 'scratchfs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openWorkspace } from './workspace.js';
import type { Workspace, WorkspaceEvent } from './workspace-types.js';

let top: string;
const open: Workspace[] = [];

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'events-'));
  mkdirSync(join(top, 'project'));
});
afterEach(async () => {
  for (const workspace of open.splice(0)) await workspace.close();
  rmSync(top, { recursive: true, force: true });
});

async function opened(store: string | FileSystem): Promise<Workspace> {
  const workspace = await openWorkspace(join(top, 'project'), { store });
  open.push(workspace);
  return workspace;
}

function shown(event: WorkspaceEvent): string {
  if (event.type === 'operation') return `${event.operation.attempt} ${event.operation.id}`;
  if (event.type === 'attempt') return `${event.attempt} ${event.change}`;
  return `approval ${event.approval.id} ${event.approval.state}`;
}

async function first(count: number, events: AsyncIterable<WorkspaceEvent>): Promise<string[]> {
  const found: string[] = [];
  if (count === 0) return found;
  for await (const event of events) if (found.push(shown(event)) === count) break;
  return found;
}

it('events are what happens from the call on, in order, also in another process', async () => {
  const store = pathToFileURL(join(top, 'store')).href;
  const [a, b] = [await opened(store), await opened(store)];
  const one = await a.createAttempt('one');
  await one.fileSystem.writeFile('/before', '1');
  const [own, other] = [a.events(), b.events()];
  await one.fileSystem.writeFile('/after', '2');
  const two = await one.fork('two');
  await two.fileSystem.rm('/before');
  await a.switchTo('two');
  await a.approvals.request({ attempt: 'two', head: 1, action: 'accept', summary: 'x' });
  await a.approvals.approve(1);
  await one.discard();
  const expected = ['one 2', 'one discarded', 'two created', 'two 1', 'two current', 'approval 1 approved'];
  expect((await first(6, own)).sort()).toEqual([...expected].sort());
  expect((await first(6, other)).sort()).toEqual([...expected].sort());
});

it('what this process does is there at once', async () => {
  const workspace = await opened(createFileSystem());
  const attempt = await workspace.createAttempt('one');
  const events = workspace.events()[Symbol.asyncIterator]();
  const started = performance.now();
  for (let i = 1; i <= 20; i++) {
    const next = events.next();
    await attempt.fileSystem.writeFile(`/${i}`, '');
    expect((await next).value).toMatchObject({ type: 'operation', operation: { id: i } });
  }
  // Looking every 250 ms would take five seconds.
  expect(performance.now() - started).toBeLessThan(4_000);
  await events.return?.();
});

it('events end with the signal and with close()', async () => {
  const workspace = await opened(createFileSystem());
  const stop = new AbortController();
  const listeners = [first(1, workspace.events({ signal: stop.signal })), first(1, workspace.events())];
  stop.abort();
  expect(await listeners[0]).toEqual([]);
  await workspace.close();
  expect(await listeners[1]).toEqual([]);
  expect(await first(1, (await opened('memory:')).events({ signal: AbortSignal.abort() }))).toEqual([]);
});
