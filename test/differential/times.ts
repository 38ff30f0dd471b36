import { FIRST_TICK } from './subject.js';
import type { Tree } from './tree.js';

/** The fields of `stat` that the relations need; both sides have them. */
export interface Times {
  readonly ino: number;
  readonly atimeMs: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

interface Observed {
  times(path: string): Times | undefined;
}

/** Times at the watched places before an operation. */
export interface Before {
  readonly host: ReadonlyMap<string, Times | undefined>;
  readonly own: ReadonlyMap<string, Times | undefined>;
}

export function observe(places: readonly string[], host: Observed, own: Observed): Before {
  return {
    host: new Map(places.map((place) => [place, host.times(place)])),
    own: new Map(places.map((place) => [place, own.times(place)])),
  };
}

export interface Relation {
  /** Clock of the filesystem under test during the operation, in ms. */
  readonly tick: number;
  /** Host's file timestamp before the operation. A change within the same tick cannot be seen. */
  readonly hostNow: number;
}

/**
 * Compares which of the watched files an operation changed. A file is recognised by its `ino`, wherever it lies now.
 * Returns the first difference.
 */
export function changedDifferently(
  before: Before,
  places: readonly string[],
  host: Observed,
  own: Observed,
  at: Relation,
): string | undefined {
  const known = new Map<number, [string, Times]>();
  for (const [place, times] of before.host) if (times !== undefined) known.set(times.ino, [place, times]);
  for (const place of places) {
    const now = host.times(place);
    const mine = own.times(place);
    if (now === undefined || mine === undefined) continue;
    const old = known.get(now.ino);
    const oldMine = old && before.own.get(old[0]);
    for (const field of ['mtimeMs', 'ctimeMs'] as const) {
      const isExplicit = mine[field] < FIRST_TICK;
      if (isExplicit) {
        if (Math.round(now[field]) !== mine[field])
          return `${field} of ${JSON.stringify(place)}: ${now[field]}, not ${mine[field]}`;
      } else if (old === undefined || oldMine === undefined) {
        if (mine[field] !== at.tick && old === undefined && now[field] > at.hostNow) {
          return `${field} of the new ${JSON.stringify(place)} is not the time of the operation`;
        }
      } else {
        const [wasHost, isHost] = [old[1][field], now[field]];
        const [wasMine, isMine] = [oldMine[field], mine[field]];
        if (wasHost !== isHost && isMine !== at.tick)
          return `${field} of ${JSON.stringify(place)} changes, and did not`;
        const isVisible = wasHost < at.hostNow;
        if (isVisible && wasHost === isHost && wasMine !== isMine)
          return `${field} of ${JSON.stringify(place)} stays, and did not`;
      }
    }
  }
  return undefined;
}

/**
 * Compares the order of changes. If the disk changed one file after another, they cannot have changed in the other
 * order here. One operation may stamp several files, so equal times do not contradict.
 */
export function orderedDifferently(host: Tree, own: Tree): string | undefined {
  const pairs = [...host].flatMap(([path, node]) => {
    const mine = own.get(path);
    return mine === undefined ? [] : [{ path, host: node.ctime, own: mine.ctime }];
  });
  pairs.sort((a, b) => a.host - b.host);
  let newest = pairs[0];
  for (let i = 0; i < pairs.length; ) {
    let end = i;
    while (end < pairs.length && pairs[end]?.host === pairs[i]?.host) end += 1;
    const group = pairs.slice(i, end);
    for (const pair of group) {
      if (newest !== undefined && pair.host > newest.host && pair.own < newest.own) {
        return `ctime of ${JSON.stringify(pair.path)} is older than that of ${JSON.stringify(newest.path)}, which changed before it`;
      }
    }
    for (const pair of group) if (newest === undefined || pair.own > newest.own) newest = pair;
    i = end;
  }
  return undefined;
}

/**
 * Returns the first path whose modification time is wrong: one set by the program must be equal on both sides, any
 * other must be from the time of the run.
 */
export function setDifferently(host: Tree, own: Tree, since: number): string | undefined {
  for (const [path, node] of host) {
    const mine = own.get(path);
    if (mine === undefined) continue;
    const isSet = mine.mtime < FIRST_TICK;
    if (isSet ? Math.round(node.mtime) !== mine.mtime : node.mtime < since - 1000) {
      return `mtime of ${JSON.stringify(path)}: ${node.mtime}, not ${mine.mtime}`;
    }
  }
  return undefined;
}
