import type { S3Client } from '@aws-sdk/client-s3';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { asyncStorage, type Backend, type FileSystem, openFileSystem } from '@scratchfs/core';
import { s3Backend } from '@scratchfs/s3';
import type { Dump } from '@scratchfs/testkit';
import { changesOf, clock, dumpWithCheckpoints, plantCheckpointedScene } from '../../faults/harness.js';
import type { Change } from '../../faults/remote/trial.js';
import { clientOf, freshPlace, type Place } from '../servers/test-bucket.js';

/**
 * Files, links and directories in a bucket that are copied for each trial, with the expected state after each change.
 */
export class Scene {
  readonly changes: readonly (readonly [name: string, change: Change])[];
  readonly #after = new Map<string, Promise<Dump>>();

  private constructor(
    /** A client without a proxy. */
    readonly client: S3Client,
    readonly before: Dump,
    private readonly objects: ReadonlyMap<string, Uint8Array>,
    names: readonly string[] | undefined,
  ) {
    this.changes = changesOf(names);
  }

  /** @param names of the changes to run; default all */
  static async prepare(names?: readonly string[]): Promise<Scene> {
    const place = freshPlace();
    const client = clientOf(place);
    const backend = backendOn(client, place);
    const fs = await fileSystemOn(backend);
    await plantCheckpointedScene(fs);
    const before = await dumpWithCheckpoints(fs);
    await backend.close();
    return new Scene(client, before, await objectsOf(client, place), names);
  }

  /** Copies the scene to a new place. */
  async copy(): Promise<Place> {
    const place = freshPlace();
    const { bucket: Bucket, prefix } = place;
    await Promise.all(
      [...this.objects].map(([name, Body]) =>
        this.client.send(new PutObjectCommand({ Bucket, Key: `${prefix}/${name}`, Body })),
      ),
    );
    return place;
  }

  /** Returns the state after a change without faults. */
  after(name: string, change: Change): Promise<Dump> {
    let after = this.#after.get(name);
    if (after === undefined) {
      after = this.copy().then((place) => this.#reading(place, change));
      this.#after.set(name, after);
    }
    return after;
  }

  /** Returns the state as a new client sees it. @throws if the counters differ from a recount */
  stateAt(place: Place): Promise<Dump> {
    return this.#reading(place);
  }

  close(): void {
    this.client.destroy();
  }

  async #reading(place: Place, change?: Change): Promise<Dump> {
    const backend = backendOn(this.client, place);
    try {
      const fs = await fileSystemOn(backend);
      await change?.(fs);
      return await dumpWithCheckpoints(fs);
    } finally {
      await backend.close();
    }
  }
}

export function backendOn(client: S3Client, { bucket, prefix }: Place, timeoutMs?: number, retries?: number): Backend {
  return s3Backend(client, { bucket, prefix, timeoutMs, retries, clock: clock.read });
}

export function fileSystemOn(backend: Backend, timeoutMs?: number): Promise<FileSystem> {
  return openFileSystem(asyncStorage(backend, { clock: clock.read, timeoutMs }), { clock: clock.read });
}

/** Returns the objects under a prefix by their names without it. */
async function objectsOf(client: S3Client, { bucket: Bucket, prefix }: Place): Promise<Map<string, Uint8Array>> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: `${prefix}/` }));
  const objects = new Map<string, Uint8Array>();
  for (const { Key = '' } of Contents) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    objects.set(Key.slice(prefix.length + 1), (await Body?.transformToByteArray()) ?? new Uint8Array(0));
  }
  return objects;
}
