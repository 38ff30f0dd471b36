import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script, constants as vmConstants } from 'node:vm';
import { isOwn, isOwnDirectory } from './compile-cache.js';

/** Function that the bundle evaluates to; `.ci/bundle-program.mjs` names its parameters. */
type Program = (require: NodeJS.Require, url: string) => void;

/** Commands that the bundle lacks: they need packages that are loaded from where they are installed. */
const NOT_BUNDLED: ReadonlySet<string> = new Set(['copy', 'import', 'export', 'mcp', 'try']);

const HASH_BYTES = 32;

/** Age in milliseconds at which compiled code is removed. Code that is still used is then compiled once more. */
const MAX_AGE_MS = 30 * 86_400_000;

/**
 * Reports whether the bundle has everything that a command line needs. Also false if an argument only has the name of a
 * command that the bundle lacks.
 */
export function isBundled(argv: readonly string[]): boolean {
  return !argv.some((argument) => NOT_BUNDLED.has(argument) || argument.startsWith('--store'));
}

/**
 * Runs the program from one file, with compiled code that an earlier run of the same command has kept in a directory.
 * Finding and compiling many files took about as long as Node's own start. Returns false if the file cannot be read, as
 * in the sources.
 *
 * V8 does not verify compiled code, so a file is used only if it and its directory pass {@link isOwn}, and its hash is
 * right for its content, the bundle and this version of Node.
 */
export function runBundle(file: string, argv: readonly string[], directory: string | undefined): boolean {
  let source: Buffer;
  try {
    source = readFileSync(file);
  } catch {
    return false;
  }
  const name = [...commandWords(argv), process.version, process.arch].join('-');
  const cache = directory === undefined ? undefined : join(directory, name);
  const cachedData = cache === undefined ? undefined : readCode(cache, source);
  const script = new Script(source.toString(), {
    filename: file,
    importModuleDynamically: vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  if (cache !== undefined && (cachedData === undefined || script.cachedDataRejected === true))
    // After the run, the code has the functions that it used. A command line that failed may not name a command, so its
    // code is not kept.
    process.once('exit', (code) => {
      if (code === 0) writeCode(cache, source, () => script.createCachedData());
    });
  (script.runInThisContext() as Program)(createRequire(file), pathToFileURL(file).href);
  return true;
}

/** Returns the words at the start of a command line that may name its command. */
function commandWords([first = '', second = '']: readonly string[]): string[] {
  return [first, ...(first === 'fs' ? [second] : [])].filter((word) => /^[a-z]+$/.test(word));
}

function readCode(path: string, source: Uint8Array): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    if (!isOwnDirectory(dirname(path))) return undefined;
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || !isOwn(stats)) return undefined;
    const bytes = readFileSync(descriptor);
    const code = bytes.subarray(HASH_BYTES);
    return bytes.subarray(0, HASH_BYTES).equals(hashOf(source, code)) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Keeps compiled code, if that is possible. */
function writeCode(path: string, source: Uint8Array, compile: () => Buffer): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const directory = dirname(path);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (!isOwnDirectory(directory)) return;
    removeOld(directory);
    const code = compile();
    try {
      writeFileSync(temporary, Buffer.concat([hashOf(source, code), code]), { flag: 'wx', mode: 0o600 });
      renameSync(temporary, path);
    } catch {
      // The disk may be full, or a process with the same id may have left the file when it was killed.
      rmSync(temporary, { force: true });
    }
  } catch {
    // The directory cannot be written, for example. The next start compiles again.
  }
}

/**
 * Removes everything older than `MAX_AGE_MS`, such as code for other versions of Node and what killed processes have
 * left.
 */
function removeOld(directory: string): void {
  const oldest = Date.now() - MAX_AGE_MS;
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats !== undefined && stats.mtimeMs < oldest) rmSync(path, { recursive: true, force: true });
    } catch {
      // Tried again by the next process that writes.
    }
  }
}

function hashOf(source: Uint8Array, code: Uint8Array): Buffer {
  return createHash('sha256').update(`${process.version} ${source.length}\n`).update(source).update(code).digest();
}
