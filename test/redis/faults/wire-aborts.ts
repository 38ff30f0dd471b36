import { clock } from '../../faults/harness.js';
import { type AbortTarget, SLOW_REQUEST_MS, type ThrottledLine } from '../../faults/remote/abort.js';
import { stateAt, withClient, withPort } from '../clients.js';
import { TcpProxy } from '../proxy/tcp-proxy.js';
import { dropNamespace } from '../servers/namespaces.js';
import type { Scene } from './scene.js';

/** Returns a target that aborts each change of a scene at one of its commands. */
export function abortsOn(scene: Scene): AbortTarget {
  return {
    before: scene.before,
    changes: scene.changes,
    after: (name, change) => scene.after(name, change),
    async lend(work) {
      const place = await scene.copy();
      const proxy = await TcpProxy.open(scene.server.port);
      const options = { clock: clock.read, timeoutMs: 30_000 };
      const client = withPort(place, proxy.port);
      try {
        return await withClient(client, (fs) => work(fs, lineOf(proxy), () => stateAt(place)), options);
      } finally {
        await proxy.close();
        await dropNamespace(scene.server.control, place.namespace);
      }
    },
  };
}

function lineOf(proxy: TcpProxy): ThrottledLine {
  return {
    get requests() {
      return proxy.commands;
    },
    forget: () => proxy.forget(),
    pace(pace, silentFrom) {
      if (pace === 'slow') proxy.delayMs = SLOW_REQUEST_MS;
      if (pace === 'hanging') proxy.plan = ({ index }) => (index >= silentFrom ? 'hang' : 'none');
    },
    onRequest(listener) {
      proxy.onCommand = ({ index }) => listener(index);
    },
  };
}
