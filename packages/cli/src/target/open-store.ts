import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AsyncStorage } from '@scratchfs/core';
import { withoutPassword } from '@scratchfs/core/internal';
import { CliError, ExitCode, usageError } from '../errors.js';
import type { Store } from './store.js';

/**
 * Purpose of opening a storage. `read` and `change` need one that exists, except that `memory:` is a new one; `create`
 * creates it if it is missing. With `read`, a directory of the disk is opened read-only.
 */
export type Access = 'read' | 'change' | 'create';

const SCHEMES = [
  'redis:',
  'rediss:',
  's3:',
  'azure:',
  'dynamodb:',
  'sqlite:',
  'postgres:',
  'postgresql:',
  'file:',
  'memory:',
];

/** Packages that the user may have to install, by scheme of the URL. */
const PACKAGES: Readonly<Record<string, string>> = {
  's3:': '@scratchfs/s3 @aws-sdk/client-s3',
  'azure:': '@scratchfs/azure @azure/storage-blob',
  'dynamodb:': '@scratchfs/dynamodb @aws-sdk/client-dynamodb',
  'sqlite:': 'libsql',
  'postgres:': 'pg',
  'postgresql:': 'pg',
};

/**
 * Opens the storage that a URL or a path of the disk names, such as a server, a bucket, a database, a store of
 * `@scratchfs/disk`, a directory or a snapshot file.
 * @throws CliError for an invalid URL, a missing package, or a storage that does not exist, unless `access` is `create`
 */
export async function openStore(name: string, directory: string, access: Access): Promise<Store> {
  const scheme = /^(sqlite:|[a-z][a-z0-9+.-]+:(?=\/\/|$))/i.exec(name)?.[1]?.toLowerCase();
  if (scheme === undefined) return openPath(resolve(directory, name), name, access);
  if (!SCHEMES.includes(scheme))
    throw usageError(`No storage has URLs with ${scheme}//.`, '`scratchfs help stores` lists the forms.');
  const create = access === 'create';
  const { createFileSystem, isStorageError } = await import('scratchfs');
  if (scheme === 'memory:') {
    const fileSystem = createFileSystem();
    return { fileSystem, isSnapshot: false, save: async () => {}, close: () => fileSystem.close() };
  }
  const file = scheme === 'sqlite:' ? pathOfUrl(name, directory) : undefined;
  const url = file === undefined ? name : `sqlite:${pathToFileURL(file).pathname}${/\?.*$/s.exec(name)?.[0] ?? ''}`;
  const missing = (cause: unknown): CliError =>
    new CliError(
      ExitCode.notFound,
      `No filesystem exists at ${withoutPassword(name)}.`,
      '`scratchfs fs put` and `scratchfs copy` create one.',
      { cause },
    );
  const storage = await storageOf(scheme, url, create);
  try {
    const fileSystem = await createFileSystem({ storage });
    // A storage connects at its first call, so this one shows whether it can be used.
    await fileSystem.stat('/');
    const close = async (): Promise<void> => {
      await fileSystem.close();
      await storage.close();
    };
    return { fileSystem, isSnapshot: false, save: async () => {}, close };
  } catch (error) {
    await storage.close();
    if (isStorageError(error, 'lost')) throw missing(error);
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') throw notInstalled(scheme, error);
    if (isStorageError(error, 'unsupported') && error.message.includes('npm install'))
      throw notInstalled(scheme, error);
    throw error;
  }
}

async function storageOf(scheme: string, url: string, create: boolean): Promise<AsyncStorage> {
  try {
    switch (scheme) {
      case 'file:':
        return new (await import('@scratchfs/disk')).DiskStorage(url, { create });
      case 's3:':
        return new (await import('@scratchfs/s3')).S3Storage(url, { create });
      case 'azure:':
        return new (await import('@scratchfs/azure')).AzureBlobStorage(url, { create });
      case 'dynamodb:':
        return new (await import('@scratchfs/dynamodb')).DynamoDbStorage(url, { create });
      case 'sqlite:':
        return new (await import('@scratchfs/sql')).SqliteStorage(url, { create });
      case 'postgres:':
      case 'postgresql:':
        return new (await import('@scratchfs/sql')).PostgresStorage(url, { create });
      default:
        return new (await import('@scratchfs/redis')).RedisStorage(url, { create });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') throw notInstalled(scheme, error);
    if (error instanceof TypeError || error instanceof RangeError)
      throw new CliError(ExitCode.usage, error.message, '`scratchfs help stores` lists the forms.', { cause: error });
    throw error;
  }
}

/**
 * Returns the absolute path of the disk that a `sqlite:` or `file:` URL names, seen from `directory`; undefined for
 * other URLs. @throws CliError for an invalid escape
 */
export function pathOfUrl(url: string, directory: string): string | undefined {
  const [, path] = /^(?:sqlite|file):([^?#]*)/i.exec(url) ?? [];
  if (path === undefined) return undefined;
  try {
    return resolve(directory, decodeURIComponent(path.replace(/^\/\/(?=\/)/, '')));
  } catch {
    throw usageError(`${url} is not a URL: a % must be written as %25.`, '`scratchfs help stores` lists the forms.');
  }
}

function notInstalled(scheme: string, cause: unknown): CliError {
  const names = PACKAGES[scheme] ?? '';
  const packages = names.split(' ').map((name) => ` -p ${name}`);
  return new CliError(
    ExitCode.failed,
    `Storages at ${scheme} need packages that are not installed.`,
    `npm install ${names}, or with npx: npx -p @scratchfs/cli${packages.join('')} scratchfs …`,
    { cause },
  );
}

async function openPath(path: string, name: string, access: Access): Promise<Store> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  const isSnapshot = found === undefined ? path.endsWith('.snapshot') : found.isFile();
  if (found === undefined && access !== 'create')
    throw new CliError(
      ExitCode.notFound,
      `${name} does not exist.`,
      'Name a directory, a snapshot file, or a URL: see `scratchfs help stores`.',
    );
  if (isSnapshot) return (await import('./snapshot-file.js')).openSnapshotFile(path);
  const { hostFileSystem } = await import('@scratchfs/host');
  if (found === undefined) {
    const { mkdir } = await import('node:fs/promises');
    await mkdir(path, { recursive: true });
  }
  const fileSystem = hostFileSystem(path, { readonly: access === 'read' });
  return { fileSystem, isSnapshot: false, save: async () => {}, close: () => fileSystem.close() };
}
