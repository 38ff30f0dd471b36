import { createHash } from 'node:crypto';
import { CHECKS } from './checks.js';
import { COMMIT } from './commit.js';
import { CONTENTS } from './contents.js';
import { ENTER } from './enter.js';
import { FREE } from './free.js';
import { HELLO } from './hello.js';
import { LOAD } from './load.js';
import { NODES } from './nodes.js';
import { OBJECTS } from './objects.js';
import { ONCE } from './once.js';
import { OUTCOME } from './outcome.js';
import { REFERENCES } from './references.js';
import { RESOLVE } from './resolve.js';
import { STATES } from './states.js';
import { STORE } from './store.js';
import { WRITES } from './writes.js';

/** A script as it is sent, and the name under which the server keeps it. */
export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

function script(name: string, ...parts: readonly string[]): Script {
  const text = parts.join('\n');
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}

const COUNTER = 'local counter, started, state';
const TREE = [OBJECTS, REFERENCES, NODES] as const;

export const scripts = {
  hello: script('hello', OBJECTS, HELLO),
  load: script('load', OBJECTS, COUNTER, ENTER, LOAD),
  commit: script('commit', ...TREE, CONTENTS, STORE, ENTER, ONCE, RESOLVE, CHECKS, WRITES, COMMIT),
  states: script('states', OBJECTS, REFERENCES, COUNTER, ENTER, ONCE, STATES),
  free: script('free', OBJECTS, REFERENCES, COUNTER, ENTER, FREE),
  outcome: script('outcome', OBJECTS, COUNTER, ENTER, OUTCOME),
} as const;
