import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hostFileSystem } from '../host-file-system.js';

/** Changes a directory of the host and ends without closing it: `done` after the change, `within` during a removal. */
const [root = '', when] = process.argv.slice(2);
const fs = hostFileSystem(root);
await fs.writeFile('/file', 'x');
if (when === 'within') {
  void fs.rm('/tree', { recursive: true });
  const isStaged = (): boolean =>
    readdirSync(root)
      .filter((name) => name.startsWith('.scratchfs-tmp-'))
      .some((name) => readdirSync(join(root, name)).length > 0);
  const endWhenStaged = (): void => {
    if (isStaged()) process.exit(0);
    setImmediate(endWhenStaged);
  };
  endWhenStaged();
}
