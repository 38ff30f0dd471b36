import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import { RedisServer, type RedisServerOptions } from './redis-server.js';

const SLOTS = 16_384;
const MASTERS = 3;

/** Three real masters on loopback that share the slots, without replicas. */
export class RedisCluster {
  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(options: RedisServerOptions = {}): Promise<RedisCluster> {
    const starting = Array.from({ length: MASTERS }, () => RedisServer.start({ ...options, cluster: true }));
    const cluster = new RedisCluster(await Promise.all(starting));
    await cluster.#join();
    return cluster;
  }

  get seeds(): { host: string; port: number }[] {
    return this.nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  client(): Cluster {
    const client = new Cluster(this.seeds);
    client.on('error', () => undefined);
    return client;
  }

  /** Returns the master that holds a key. */
  async ownerOf(key: string): Promise<RedisServer> {
    const slot = await (this.nodes[0] as RedisServer).control.call('CLUSTER', 'KEYSLOT', key);
    const width = Math.ceil(SLOTS / MASTERS);
    return this.nodes[Math.floor(Number(slot) / width)] as RedisServer;
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  async #join(): Promise<void> {
    const width = Math.ceil(SLOTS / MASTERS);
    const [first, ...others] = this.nodes as [RedisServer, ...RedisServer[]];
    await Promise.all(
      this.nodes.map(async ({ control }, index) => {
        await control.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
        const last = Math.min(SLOTS, (index + 1) * width) - 1;
        await control.call('CLUSTER', 'ADDSLOTSRANGE', String(index * width), String(last));
      }),
    );
    for (const { port } of others) await first.control.call('CLUSTER', 'MEET', '127.0.0.1', String(port));
    for (let all = false; !all; ) {
      const infos = await Promise.all(this.nodes.map(({ control }) => control.call('CLUSTER', 'INFO')));
      all = infos.every((info) => {
        const text = String(info);
        return text.includes('cluster_state:ok') && text.includes(`cluster_known_nodes:${MASTERS}`);
      });
      if (!all) await sleep(50);
    }
  }
}
