import { type AbortTarget, SLOW_REQUEST_MS, type ThrottledLine } from '../../faults/remote/abort.js';
import { followUp } from '../../faults/remote/trial.js';
import { HttpProxy } from '../proxy/http-proxy.js';
import { clientOf } from '../servers/test-bucket.js';
import { backendOn, fileSystemOn, type Scene } from './scene.js';

const TIMEOUT_MS = 30_000;

/** Returns a target that aborts each change of a scene at one of its requests. */
export function abortsOn(scene: Scene, endpoint: string): AbortTarget {
  return {
    before: scene.before,
    changes: scene.changes,
    after: (name, change) => scene.after(name, change),
    arrived: followUp,
    async lend(work) {
      const place = await scene.copy();
      const proxy = await HttpProxy.start(endpoint);
      const client = clientOf({ ...place, endpoint: proxy.endpoint });
      const backend = backendOn(client, place, TIMEOUT_MS);
      try {
        return await work(await fileSystemOn(backend, TIMEOUT_MS), lineOf(proxy), () => scene.stateAt(place));
      } finally {
        await backend.close();
        client.destroy();
        await proxy.stop();
      }
    },
  };
}

function lineOf(proxy: HttpProxy): ThrottledLine {
  return {
    get requests() {
      return proxy.seen.length;
    },
    forget: () => proxy.forget(),
    pace(pace, silentFrom) {
      if (pace === 'slow') proxy.plan = () => ({ delayMs: SLOW_REQUEST_MS });
      if (pace === 'hanging') proxy.plan = ({ index }) => (index >= silentFrom ? 'silence' : 'none');
    },
    onRequest(listener) {
      proxy.onRequest = ({ index }) => listener(index);
    },
  };
}
