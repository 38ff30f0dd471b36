import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { FileHandleClass } from '../assemble.js';
import { CLOSED, FileHandle } from '../file-handle.js';
import type { Any } from '../forms.js';

/** A FileHandle with its Node extras: an emitter of `close`, and a resource for async hooks. */
export class NodeFileHandle extends FileHandle {
  #resource: AsyncResource | undefined;
  protected override [CLOSED](): void {
    (this as unknown as EventEmitter).emit('close');
  }
  getAsyncId(): number {
    this.#resource ??= new AsyncResource('FILEHANDLE');
    return this.#resource.asyncId();
  }
}

// It has two parents: the handle, and the emitter, whose methods need no initialisation.
for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(EventEmitter.prototype))) {
  if (name !== 'constructor') Object.defineProperty(NodeFileHandle.prototype, name, property);
}

/** Returns the FileHandle class of one object: it streams through the object's own classes. */
export function fileHandleClass(fs: {
  readonly createReadStream: Any;
  readonly createWriteStream: Any;
}): FileHandleClass {
  return class FileHandle extends NodeFileHandle {
    createReadStream(options?: object): unknown {
      return fs.createReadStream(undefined, { ...options, fd: this });
    }
    createWriteStream(options?: object): unknown {
      return fs.createWriteStream(undefined, { ...options, fd: this });
    }
    readLines(options?: object): Interface {
      const input = this.createReadStream(options) as Readable;
      return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
    }
  };
}
