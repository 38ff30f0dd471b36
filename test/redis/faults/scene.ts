import type { Dump } from '@scratchfs/testkit';
import { changesOf, clock, plantCheckpointedScene } from '../../faults/harness.js';
import type { Change } from '../../faults/remote/trial.js';
import { freshNamespace, type RedisLocation, stateAt, withClient } from '../clients.js';
import { type Copy, copyNamespace, putNamespace } from '../servers/namespaces.js';
import type { RedisServer } from '../servers/redis-server.js';

/**
 * Files, links and directories on a server that are copied for each trial, with the expected state after each change.
 */
export class Scene {
  readonly changes: readonly (readonly [name: string, change: Change])[];
  readonly #after = new Map<string, Dump>();

  private constructor(
    readonly server: RedisServer,
    readonly before: Dump,
    private readonly content: Copy,
    private readonly original: string,
    names: readonly string[] | undefined,
  ) {
    this.changes = changesOf(names);
  }

  /** @param names of the changes to run; default all */
  static async prepare(server: RedisServer, names?: readonly string[]): Promise<Scene> {
    const place = { url: server.url, namespace: freshNamespace() };
    await withClient(place, plantCheckpointedScene, { clock: clock.read });
    const content = await copyNamespace(server.control, place.namespace);
    return new Scene(server, await stateAt(place), content, place.namespace, names);
  }

  /** Copies the scene to a new namespace. */
  async copy(): Promise<RedisLocation> {
    const place = { url: this.server.url, namespace: freshNamespace() };
    await putNamespace(this.server.control, this.content, this.original, place.namespace);
    return place;
  }

  /** Returns the state after a change without faults. */
  async after(name: string, change: Change): Promise<Dump> {
    const known = this.#after.get(name);
    if (known !== undefined) return known;
    const place = await this.copy();
    await withClient(place, (fs) => change(fs), { clock: clock.read });
    const state = await stateAt(place);
    this.#after.set(name, state);
    return state;
  }
}
