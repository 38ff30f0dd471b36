import { clock } from '../../faults/harness.js';
import { type AbortGround, type AbortLine, SLOW_MS } from '../../faults/remote/abort.js';
import { stateAt, withClient, withPort } from '../clients.js';
import { TcpProxy } from '../proxy/tcp-proxy.js';
import { dropNamespace } from '../servers/namespaces.js';
import type { Scene } from './scene.js';

/** Changes of a scene that are aborted when one of their commands is on the way. */
export function abortsOn(scene: Scene): AbortGround {
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

function lineOf(proxy: TcpProxy): AbortLine {
  return {
    get requests() {
      return proxy.commands;
    },
    forget: () => proxy.forget(),
    pace(pace, silentFrom) {
      if (pace === 'slow') proxy.delayMs = SLOW_MS;
      if (pace === 'hanging') proxy.plan = ({ index }) => (index >= silentFrom ? 'hang' : 'none');
    },
    onRequest(listener) {
      proxy.onCommand = ({ index }) => listener(index);
    },
  };
}
