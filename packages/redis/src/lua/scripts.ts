import { createHash } from 'node:crypto';
import { ANNOUNCE } from './announce.js';
import { COMMIT } from './commands/commit.js';
import { REQUEST } from './commands/commit-request.js';
import { IN_PLACE } from './commands/fast-path.js';
import { FREE } from './commands/free.js';
import { HELLO } from './commands/handshake.js';
import { LOAD } from './commands/load.js';
import { OUTCOME } from './commands/outcome.js';
import { STAGE } from './commands/stage-content.js';
import { STATES } from './commands/states.js';
import { CONFIRM, STILL } from './commands/validation.js';
import { WATCH } from './commands/watch.js';
import { ONCE } from './idempotency.js';
import { LAYOUT, PATHS } from './layout.js';
import { ENTER } from './preamble.js';
import { RESULTS } from './result-retention.js';
import { CHECKS } from './tree/checks.js';
import { CONTENTS } from './tree/contents.js';
import { NODES, NODES_RARE } from './tree/nodes.js';
import { COPIES, OBJECTS } from './tree/objects.js';
import { RESOLVE } from './tree/paths.js';
import { REFERENCES } from './tree/references.js';
import { STORE } from './tree/store.js';
import { VIEW } from './tree/views.js';
import { WRITES, WRITES_RARE } from './tree/writes.js';

/** A script as it is sent, and the name under which the server keeps it. */
export interface Script {
  readonly name: string;
  /** Whether it needs the client's table of results beside the keys of the tree, and what is told to watchers beside that. */
  readonly beside: Beside;
  readonly text: string;
  readonly sha: string;
}

export type Beside = 'nothing' | 'results' | 'results and changes';

function script(name: string, beside: Beside, ...parts: readonly string[]): Script {
  const text = parts.join('\n');
  return { name, beside, text, sha: createHash('sha1').update(text).digest('hex') };
}

/** Checks that this is the right filesystem come first: what follows need not be made where they fail. */
const TREE = [COPIES, REFERENCES, NODES, NODES_RARE, CONTENTS, STORE, RESOLVE, CHECKS, WRITES, WRITES_RARE] as const;

export const scripts = {
  hello: script('hello', 'results and changes', LAYOUT, OBJECTS, RESULTS, HELLO),
  load: script('load', 'nothing', ENTER, LAYOUT, OBJECTS, COPIES, VIEW, LOAD),
  confirm: script('confirm', 'nothing', ENTER, STILL, LAYOUT, PATHS, OBJECTS, COPIES, VIEW, CONFIRM),
  commit: script(
    'commit',
    'results',
    ENTER,
    RESULTS,
    ONCE,
    LAYOUT,
    PATHS,
    REQUEST,
    IN_PLACE,
    OBJECTS,
    ...TREE,
    ANNOUNCE,
    COMMIT,
  ),
  stage: script('stage', 'nothing', ENTER, LAYOUT, OBJECTS, ...TREE, STAGE),
  states: script('states', 'results and changes', ENTER, LAYOUT, OBJECTS, REFERENCES, RESULTS, ONCE, ANNOUNCE, STATES),
  free: script('free', 'nothing', ENTER, LAYOUT, REFERENCES, FREE),
  outcome: script('outcome', 'results', ENTER, RESULTS, ONCE, OUTCOME),
  watch: script('watch', 'results and changes', ENTER, WATCH),
} as const;
