import { setTimeout as sleep } from 'node:timers/promises';
import type { FileSystem } from '@scratchfs/core';
import { grep } from '@scratchfs/core/search';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { connect, freshNamespace, type RedisLocation, withPort } from './clients.js';
import { TcpProxy } from './proxy/tcp-proxy.js';
import type { RedisServer } from './servers/redis-server.js';

/** CPU time that the commands of one chapter cost the server. */
export interface Busy {
  readonly what: string;
  readonly commands: number;
  /** CPU milliseconds of the longest command, and the sum over all of them. */
  readonly longestMs: number;
  readonly totalMs: number;
}

type Work = (fs: FileSystem) => Promise<unknown>;

const all = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items);
};

/**
 * Returns the operations to measure, in order. They use a directory `/d` of many files, and `/tree` with as many files
 * in directories of 100.
 */
function chapters(): readonly (readonly [what: string, work: Work])[] {
  let snapshot = new Uint8Array();
  const some = new Uint8Array(20_000_000).fill(1);
  return [
    ['a listing', (fs) => fs.entries('/d')],
    ['a walk', (fs) => all(fs.walk('/'))],
    ['grep through all contents', (fs) => all(grep(fs, 'nowhere', { paths: '/tree' }))],
    ['a checkpoint', (fs) => fs.checkpoint('first')],
    ['the first write after a checkpoint', (fs) => fs.writeFile('/d/file-7', 'changed')],
    [
      '500 writes at once',
      (fs) => Promise.all(Array.from({ length: 500 }, (_, i) => fs.writeFile(`/d/file-${i}`, 'x'))),
    ],
    [
      'a transaction of 2,000 writes',
      (fs) =>
        fs.transaction(async (tx) => {
          for (let i = 0; i < 2_000; i++) await tx.writeFile(`/d/new-${i}`, 'x');
        }),
    ],
    ['cp -r of the directory', (fs) => fs.cp('/d', '/copy', { recursive: true })],
    ['the first write into the copy', (fs) => fs.writeFile('/copy/file-8', 'changed')],
    ['rename of the directory', (fs) => fs.rename('/copy', '/moved')],
    ['20 MB into a file', (fs) => fs.writeFile('/large', some)],
    ['20 MB out of a file', (fs) => fs.readFile('/large')],
    [
      'a byte in the middle of them',
      async (fs) => {
        const handle = await fs.open('/large', 'r+');
        await handle.write(new Uint8Array(1), 10_000_000);
        await handle.close();
      },
    ],
    ['truncate to nothing', (fs) => fs.truncate('/large', 0)],
    [
      'a snapshot',
      async (fs) => {
        snapshot = await createSnapshot(fs);
      },
    ],
    ['rm -r of the directory', (fs) => fs.rm('/moved', { recursive: true })],
    ['rm -r of the tree', (fs) => fs.rm('/tree', { recursive: true })],
    ['a rollback', (fs) => fs.rollback('first')],
    ['rm -r of what a checkpoint holds', (fs) => fs.rm('/tree', { recursive: true })],
    ['the drop of a checkpoint', (fs) => fs.drop('first')],
    ['the restore of a snapshot', (fs) => restoreSnapshot(fs, snapshot)],
    [
      'rm -r of everything',
      async (fs) => {
        for (const name of await fs.readdir('/')) await fs.rm(`/${name}`, { recursive: true });
      },
    ],
  ];
}

/** Runs all chapters and returns the commands of each, including those that free what it replaced. */
export async function busyServer(server: RedisServer, size: number, onChapter?: (busy: Busy) => void): Promise<Busy[]> {
  const proxy = await TcpProxy.open(server.port);
  const place: RedisLocation = { url: server.url, namespace: freshNamespace() };
  const client = await connect(withPort(place, proxy.port), { timeoutMs: 60_000 });
  const { fs } = client;
  const report: Busy[] = [];
  const swept = async (): Promise<void> => {
    while ((await server.control.llen(`scratchfs:{${place.namespace}}:q`)) > 0) await sleep(5);
  };
  try {
    await plant(fs, size);
    for (const [what, work] of chapters()) {
      await swept();
      proxy.forget();
      proxy.isSerial = true;
      let commands = 0;
      let longestMs = 0;
      let totalMs = 0;
      let before = Number.NaN;
      // The server's background work (some 5 ms a second) must not count, so CPU time is taken between pass and reply.
      proxy.onPass = () => {
        before = server.cpuMs() ?? Number.NaN;
      };
      proxy.onReply = () => {
        commands += 1;
        const ms = (server.cpuMs() ?? Number.NaN) - before;
        longestMs = Math.max(longestMs, ms);
        totalMs += ms;
      };
      await work(fs);
      await swept();
      proxy.forget();
      report.push({ what, commands, longestMs, totalMs });
      onChapter?.(report.at(-1) as Busy);
    }
    return report;
  } finally {
    await client.close();
    await proxy.close();
  }
}

async function plant(fs: FileSystem, size: number): Promise<void> {
  await fs.mkdir('/d');
  for (let at = 0; at < size; at += 1_000) {
    await fs.transaction(async (tx) => {
      for (let i = at; i < Math.min(at + 1_000, size); i++) {
        await tx.writeFile(`/d/file-${i}`, `content ${i}`);
        if (i % 100 === 0) await tx.mkdir(`/tree/${i / 100}`, { recursive: true });
        await tx.writeFile(`/tree/${Math.floor(i / 100)}/${i}`, `content ${i}`);
      }
    });
  }
}
