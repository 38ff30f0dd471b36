import { createHash } from 'node:crypto';
import { ANNOUNCE } from './announce.js';
import { CHECKS } from './checks.js';
import { COMMIT } from './commit.js';
import { CONFIRM, STILL } from './confirm.js';
import { CONTENTS } from './contents.js';
import { ENTER } from './enter.js';
import { FREE } from './free.js';
import { HELLO } from './hello.js';
import { IN_PLACE } from './in-place.js';
import { LAYOUT, PATHS } from './layout.js';
import { LOAD } from './load.js';
import { NODES, NODES_RARE } from './nodes.js';
import { COPIES, OBJECTS } from './objects.js';
import { ONCE } from './once.js';
import { OUTCOME } from './outcome.js';
import { REFERENCES } from './references.js';
import { REQUEST } from './request.js';
import { RESOLVE } from './resolve.js';
import { RESULTS } from './results.js';
import { STAGE } from './stage.js';
import { STATES } from './states.js';
import { STORE } from './store.js';
import { VIEW } from './view.js';
import { WATCH } from './watch.js';
import { WRITES, WRITES_RARE } from './writes.js';

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
