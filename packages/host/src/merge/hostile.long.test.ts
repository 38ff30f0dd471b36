import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isHistoryError, MemoryRepository, type ObjectId, type ObjectType } from '@scratchfs/history';
import { afterAll, expect, it } from 'vitest';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders } from '../testing/sample-repository.js';
import { HostHistory } from '../versions/host-history.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

const NAMES = ['.git', '.GIT', 'git~1', '.git ', '.g\u200cit', '..', '.', 'a/b', '..\\x', ''];

/** Puts an object into a store unchecked. */
async function put(repository: MemoryRepository, type: ObjectType, body: Buffer): Promise<ObjectId> {
  const id = createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex') as ObjectId;
  await repository.write([{ type, body, id }]);
  return id;
}

it.each(NAMES)('a version with the name %j reaches neither a repository nor a directory', async (name) => {
  const target = folders.repository({ 'a.txt': 'one\n' });
  const own = new MemoryRepository();
  await using versions = new HostHistory({ repository: own });
  const start = await versions.onboardRepo(target.path);
  const blob = await put(own, 'blob', Buffer.from('#!/bin/sh\ntouch /tmp/canary\n'));
  const entry = (mode: string, called: string, id: string) =>
    Buffer.concat([Buffer.from(`${mode} ${called}\0`), Buffer.from(id, 'hex')]);
  const inner = await put(own, 'tree', entry('100755', 'config', blob));
  const tree = await put(own, 'tree', entry('40000', name, inner));
  const who = 'A <a@example.com> 1700000000 +0000';
  const text = `tree ${tree}\nparent ${start}\nauthor ${who}\ncommitter ${who}\n\nhostile\n`;
  const version = await put(own, 'commit', Buffer.from(text));
  const before = stateOf(target.path);
  const error = await versions.executeMerge(target.path, version).catch((reason: unknown) => reason);
  expect(isHistoryError(error, 'hostile')).toBe(true);
  expect(stateOf(target.path)).toEqual(before);
  const folder = folders.folder();
  const refusal = await versions.checkoutSnapshot(version, folder).catch((reason: unknown) => reason);
  expect(isHistoryError(refusal, 'hostile')).toBe(true);
  expect(existsSync(join(folder, '.git'))).toBe(false);
});
