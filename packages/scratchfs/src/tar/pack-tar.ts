import { baseName, type CallOptions, type EntryInfo, type FileSystem, isFsError } from '@scratchfs/core';
import { createTarPacker, type TarHeader, type TarPackController } from 'modern-tar';
import { inParts } from './in-parts.js';
import { checkOptions } from './options.js';
import { toSeconds } from './times.js';

/**
 * Returns a tar archive (ustar, with pax headers if necessary) of everything under a directory, paths relative to it,
 * or of one file: modes, owners, modification times, symlinks, hard links. The directory itself is not an entry. The
 * archive shows one point in time; for a filesystem in memory, that of the call. Failures are errors of the stream.
 *
 * A filesystem without forks and transactions, such as a directory of the host, is read entry by entry instead: an
 * entry that another client changes concurrently may be packed with old metadata and new content, and one that is
 * removed before it is read may be left out.
 *
 * @throws TypeError for invalid options; FsError ENOENT, as the error of the stream, if the path does not exist
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { packTar } from 'scratchfs/tar';
 *
 * const fs = createFileSystem({ files: { '/src/a.txt': 'text' } });
 * const archive = await new Response(packTar(fs, '/src')).arrayBuffer();
 * console.log(archive.byteLength % 512); // → 0
 * ```
 */
export function packTar(
  fileSystem: FileSystem,
  path = '/',
  options?: CallOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  checkOptions(options, ['signal'], 'packTar');
  const signal = options?.signal;
  const { readable, controller } = createTarPacker();
  pack(fileSystem, path, controller, signal).catch((error: unknown) => {
    controller.error(error);
  });
  return inParts(readable);
}

async function pack(
  fileSystem: FileSystem,
  path: string,
  controller: TarPackController,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const fork = fileSystem.capabilities.forks ? await fileSystem.fork({ signal }) : undefined;
  try {
    const atOnce = fork === undefined ? await readAtOnce(fileSystem, path, signal) : undefined;
    const packed = atOnce ?? read(fork ?? fileSystem, path);
    for await (const [header, content] of packed) {
      signal?.throwIfAborted();
      await put(controller, header, content);
    }
  } finally {
    await fork?.close();
  }
  controller.finalize();
}

type Packed = readonly [header: TarHeader, content: Uint8Array];
const EMPTY = new Uint8Array(0);

/** Reads everything in one transaction. Returns undefined if the filesystem has no transactions. */
async function readAtOnce(
  fileSystem: FileSystem,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Packed[] | undefined> {
  let hasBegun = false;
  try {
    return await fileSystem.transaction(
      async (inside) => {
        hasBegun = true;
        const all: Packed[] = [];
        for await (const packed of read(inside, path)) all.push(packed);
        return all;
      },
      { signal },
    );
  } catch (error) {
    if (hasBegun || !isFsError(error, 'ENOTSUP')) throw error;
    return undefined;
  }
}

async function* read(fileSystem: FileSystem, path: string): AsyncGenerator<Packed> {
  const top = await fileSystem.realpath(path);
  const firstNames = new Map<number, string>();
  if (await fileSystem.isFile(top)) {
    const { content, ...info } = await fileSystem.getEntry(top);
    yield [headerOf(info, baseName(top), content.length, undefined), content];
    return;
  }
  const prefix = top === '/' ? 1 : top.length + 1;
  for await (const info of fileSystem.walk(top)) {
    const name = info.path.slice(prefix);
    try {
      const isShared = info.links > 1 && info.kind !== 'directory';
      const ino = isShared ? (await fileSystem.lstat(info.path)).ino : undefined;
      const first = ino === undefined ? undefined : firstNames.get(ino);
      const hasContent = info.kind === 'file' && first === undefined && info.size > 0;
      const content = hasContent ? await fileSystem.readFile(info.path) : EMPTY;
      if (ino !== undefined && first === undefined) firstNames.set(ino, name);
      yield [headerOf(info, name, content.length, first), content];
    } catch (error) {
      // It has been removed since it was listed.
      if (!isFsError(error, 'ENOENT')) throw error;
    }
  }
}

function headerOf(info: EntryInfo, name: string, size: number, first: string | undefined): TarHeader {
  const pax: Record<string, string> = {};
  const linkname = first ?? info.target;
  // Some parsers drop a byte order mark at the start of a field.
  if (hasMark(name)) pax['path'] = info.kind === 'directory' ? `${name}/` : name;
  if (linkname !== undefined && hasMark(linkname)) pax['linkpath'] = linkname;
  const seconds = Math.floor(info.modifiedAt / 1000);
  const fits = seconds >= 0 && seconds < 8 ** 11;
  if (!fits || seconds * 1000 !== info.modifiedAt) pax['mtime'] = toSeconds(info.modifiedAt);
  return {
    name: info.kind === 'directory' ? `${name}/` : name,
    type: first === undefined ? info.kind : 'link',
    size,
    mode: info.mode,
    // The packer writes values beyond seven octal digits into a pax header.
    uid: info.uid,
    gid: info.gid,
    mtime: new Date(fits ? seconds * 1000 : 0),
    ...(linkname === undefined ? {} : { linkname }),
    ...(Object.keys(pax).length === 0 ? {} : { pax }),
  };
}

function hasMark(path: string): boolean {
  return path.startsWith('\ufeff') || path.includes('/\ufeff');
}

async function put(controller: TarPackController, header: TarHeader, content: Uint8Array): Promise<void> {
  const body = controller.add(header);
  if (content.length === 0) {
    await body.close();
    return;
  }
  const writer = body.getWriter();
  await writer.write(content);
  await writer.close();
}
