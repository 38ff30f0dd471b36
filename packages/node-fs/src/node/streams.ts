import type { EventEmitter } from 'node:events';
import * as host from 'node:fs';
import { type Given, toOptions } from '../arguments/options.js';
import type { Functions } from '../assemble.js';
import { coded } from '../errors/argument-errors.js';
import type { Any } from '../forms.js';
import { NodeFileHandle } from './file-handle.js';
import { nodePlatform } from './platform.js';

/** A class that can be called without `new`, and applied to an object that inherits from it, as graceful-fs does. */
type StreamClass = Any & { new (path: unknown, options?: unknown): object };

/** Creates a stream class of Node over other functions; the option `fs` of a stream replaces them. */
function over(fs: Functions, Parent: object, name: string): StreamClass {
  const Stream = function (this: unknown, path: unknown, options: unknown) {
    if (!(this instanceof Stream)) return new Stream(path, options);
    const { handle, ...given } = streamOptions(fs, options);
    Reflect.apply(Parent as Any, this, [path, given]);
    handle?.on('close', () => (this as host.ReadStream).close());
  } as unknown as StreamClass;
  Object.setPrototypeOf(Stream, Parent);
  Stream.prototype = Object.create((Parent as StreamClass).prototype, {
    constructor: { value: Stream, writable: true, configurable: true },
  });
  return Object.defineProperty(Stream, 'name', { value: name, configurable: true });
}

export interface StreamFunctions {
  createReadStream: Any;
  createWriteStream: Any;
}

/** Creates the two functions and their classes. If the classes are replaced, the functions create the replacements. */
export function streamFunctions(fs: Functions): StreamFunctions {
  let ReadStream = over(fs, host.ReadStream, 'ReadStream');
  let WriteStream = over(fs, host.WriteStream, 'WriteStream');
  const functions = {
    createReadStream: (path: unknown, options: unknown) => new ReadStream(path, options),
    createWriteStream: (path: unknown, options: unknown) => new WriteStream(path, options),
    get ReadStream() {
      return ReadStream;
    },
    set ReadStream(value) {
      ReadStream = value;
    },
    get WriteStream() {
      return WriteStream;
    },
    set WriteStream(value) {
      WriteStream = value;
    },
    // The legacy names keep the original classes.
    FileReadStream: ReadStream,
    FileWriteStream: WriteStream,
  };
  return functions;
}

type Handle = NodeFileHandle & host.promises.FileHandle & EventEmitter;

function streamOptions(fs: Functions, options: unknown): Given & { handle?: Handle } {
  const given = toOptions(options, nodePlatform);
  const { fd } = given;
  if (fd instanceof NodeFileHandle && given['fs']) {
    throw coded(new Error('The FileHandle with fs method is not implemented'), 'ERR_METHOD_NOT_IMPLEMENTED');
  }
  if (fd instanceof NodeFileHandle) return { ...given, handle: fd as Handle, fd: fd.fd, fs: functionsOf(fd as Handle) };
  return { ...given, fs: given['fs'] ?? fs };
}

/** Returns the functions that a stream on an open handle needs. The handle closes with the stream. */
function functionsOf(handle: Handle): Functions {
  const tell = (
    promise: Promise<object>,
    count: 'bytesRead' | 'bytesWritten',
    subject: unknown,
    callback: Any,
  ): void => {
    promise.then(
      (result) => callback(null, (result as Record<string, unknown>)[count], subject),
      (error) => callback(error, 0, subject),
    );
  };
  const end = (promise: Promise<unknown>, callback: Any): void => void promise.then(() => callback(), callback);
  return {
    open() {},
    close: (_fd: number, callback: Any) => end(handle.close(), callback),
    fsync: (_fd: number, callback: Any) => end(handle.sync(), callback),
    read: (_fd: number, buffer: Buffer, offset: number, length: number, position: number, callback: Any) =>
      tell(handle.read(buffer, offset, length, position), 'bytesRead', buffer, callback),
    write: (_fd: number, buffer: Buffer, offset: number, length: number, position: number, callback: Any) =>
      tell(handle.write(buffer, offset, length, position), 'bytesWritten', buffer, callback),
    writev: (_fd: number, buffers: Buffer[], position: number, callback: Any) =>
      tell(handle.writev(buffers, position), 'bytesWritten', buffers, callback),
  };
}
