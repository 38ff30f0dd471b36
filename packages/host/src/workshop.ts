import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { Anchor } from './anchor.js';
import type { ConfinedRoot } from './confined-root.js';
import { TEMPORARY } from './host-facts.js';

/**
 * A hidden folder at the top of the root in which things are finished before they get their names, and to which they go
 * before they are taken apart: one rename is all that others see. What a killed process left is removed by the next one.
 */
export class Workshop {
  #folder: Promise<Anchor> | undefined;
  #next = 0;
  readonly #name = `${TEMPORARY}${process.pid}-${Math.floor(performance.timeOrigin)}`;

  constructor(readonly root: ConfinedRoot) {}

  /** A path that nothing has yet. */
  async place(): Promise<string> {
    this.#folder ??= this.#open();
    return (await this.#folder).child(String(++this.#next));
  }

  /** Removes what lies at a place, whatever it is; links are not followed. */
  async clear(place: string): Promise<void> {
    await rm(place, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined);
    this.#folder = undefined;
    await folder?.close();
    if (folder !== undefined) await rmdir(this.root.child(this.#name)).catch(() => undefined);
  }

  async #open(): Promise<Anchor> {
    for (const name of readdirSync(this.root.path)) {
      if (name.startsWith(TEMPORARY) && !isAlive(name)) rmSync(this.root.child(name), { recursive: true, force: true });
    }
    mkdirSync(this.root.child(this.#name), { mode: 0o700, recursive: true });
    return Anchor.at(this.root.child(this.#name));
  }
}

function isAlive(name: string): boolean {
  const pid = Number(name.slice(TEMPORARY.length).split('-')[0]);
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}
