import { createHash } from 'node:crypto';
import { ANNOUNCE } from './announce.js';
import { COMMIT } from './commands/commit.js';
import { COMMIT_REQUEST } from './commands/commit-request.js';
import { DESTROY, LEAVE } from './commands/destroy.js';
import { FAST_PATH } from './commands/fast-path.js';
import { FREE } from './commands/free.js';
import { HANDSHAKE } from './commands/handshake.js';
import { LOAD } from './commands/load.js';
import { OUTCOME } from './commands/outcome.js';
import { STAGE_CONTENT } from './commands/stage-content.js';
import { STATES } from './commands/states.js';
import { UNCHANGED_STATE, VALIDATION } from './commands/validation.js';
import { WATCH } from './commands/watch.js';
import { IDEMPOTENCY } from './idempotency.js';
import { LAYOUT, REQUEST_PATHS } from './layout.js';
import { PREAMBLE } from './preamble.js';
import { RESULT_RETENTION } from './result-retention.js';
import { CHECKS } from './tree/checks.js';
import { CONTENTS } from './tree/contents.js';
import { NODES, NODES_RARE } from './tree/nodes.js';
import { OBJECTS, TRANSFORMS } from './tree/objects.js';
import { PATHS_IN_TREE } from './tree/paths.js';
import { REFERENCES } from './tree/references.js';
import { STORE } from './tree/store.js';
import { VIEWS } from './tree/views.js';
import { WRITES, WRITES_RARE } from './tree/writes.js';

/*
 * Codes that scripts and clients exchange.
 *
 * | first element of a reply | meaning |
 * |---|---|
 * | `K` | done; the counter follows, then what the script returns |
 * | `E` | the filesystem has another token: another epoch or identity, or it is gone; shake hands again |
 * | `B` | the counter is lower than one that the client has seen: the server lost writes |
 * | `G` | the requested state is gone: a dropped checkpoint, or a fork or pinned read whose lease has expired |
 * | `W` | a staged commit has locked the state; repeat later |
 * | `N` | of a commit: the filesystem is watched, send the changes too; of a handshake: the filesystem is gone |
 * | `F` | the server has lost this client's results; shake hands again |
 * | `T` | of a handshake or `destroy`: a key has another type |
 * | `V`, `P` | of a handshake: another layout version; the head is missing |
 * | `R` | of `destroy`: the identity, then the names of clients whose keys the next attempt must include |
 *
 * | result of a batch | meaning |
 * |---|---|
 * | `o version` | applied, or a read-only batch whose checks hold |
 * | `c indexes` | the checks with these indexes failed |
 * | `l limit allowed used requested` | a limit refused the batch |
 * | `q limits` | the client sent other limits than are stored; here are the stored ones |
 * | `m` | the state that the commit was staged on has changed |
 * | `a`, `s` | of an outcome: the operation has not arrived and will be refused; its result is not known any more |
 *
 * | byte | meaning |
 * |---|---|
 * | kind of a record | 100 `d` directory, 102 `f` file, 108 `l` file or symlink with several names, 115 `s` symlink |
 * | kind of an object | 66 `B` large chunk, 67 `C` chunk, 68 `D` directory, 76 `L` bucket of names, 65 `A` list of references |
 * | kind of a check | 1 entry, 2 empty directory, 3 listing, 4 tree |
 */

/** A script with the SHA-1 under which the server caches it. */
export interface Script {
  readonly name: string;
  /**
   * The keys that the script needs in addition to those of the tree: the client's results, and the stream for watchers.
   */
  readonly extraKeys: ExtraKeys;
  readonly text: string;
  readonly sha: string;
}

export type ExtraKeys = 'nothing' | 'results' | 'results and changes';

function script(name: string, extraKeys: ExtraKeys, ...parts: readonly string[]): Script {
  const text = parts.join('\n');
  return { name, extraKeys, text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * The parts that work on the tree. In a script they come after the parts that may refuse a request, because creating
 * their functions takes time.
 */
const TREE = [
  TRANSFORMS,
  REFERENCES,
  NODES,
  NODES_RARE,
  CONTENTS,
  STORE,
  PATHS_IN_TREE,
  CHECKS,
  WRITES,
  WRITES_RARE,
] as const;

export const scripts = {
  handshake: script('handshake', 'results and changes', LAYOUT, OBJECTS, RESULT_RETENTION, HANDSHAKE),
  load: script('load', 'nothing', PREAMBLE, LAYOUT, OBJECTS, TRANSFORMS, VIEWS, LOAD),
  validate: script(
    'validate',
    'nothing',
    PREAMBLE,
    UNCHANGED_STATE,
    LAYOUT,
    REQUEST_PATHS,
    OBJECTS,
    TRANSFORMS,
    VIEWS,
    VALIDATION,
  ),
  commit: script(
    'commit',
    'results',
    PREAMBLE,
    RESULT_RETENTION,
    IDEMPOTENCY,
    LAYOUT,
    REQUEST_PATHS,
    COMMIT_REQUEST,
    FAST_PATH,
    OBJECTS,
    ...TREE,
    ANNOUNCE,
    COMMIT,
  ),
  stageContent: script('stageContent', 'nothing', PREAMBLE, LAYOUT, OBJECTS, ...TREE, STAGE_CONTENT),
  states: script(
    'states',
    'results and changes',
    PREAMBLE,
    LAYOUT,
    OBJECTS,
    REFERENCES,
    RESULT_RETENTION,
    IDEMPOTENCY,
    ANNOUNCE,
    STATES,
  ),
  free: script('free', 'nothing', PREAMBLE, LAYOUT, REFERENCES, FREE),
  outcome: script('outcome', 'results', PREAMBLE, RESULT_RETENTION, IDEMPOTENCY, OUTCOME),
  watch: script('watch', 'results and changes', PREAMBLE, WATCH),
  destroy: script('destroy', 'nothing', DESTROY),
  leave: script('leave', 'nothing', LEAVE),
} as const;
