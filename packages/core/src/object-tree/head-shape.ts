import type { Metadata } from '../backend.js';
import type { Limits } from '../limits.js';
import type { CheckpointRecord, ClientRecord, CompactionProgress, ForkRecord, Head, StateRecord } from './head.js';
import type { Ref } from './ref.js';

type Check = (value: unknown) => boolean;

/** Checks for every field of a record. */
type Shape<T> = { readonly [K in keyof T]-?: Check };

const text: Check = (value) => typeof value === 'string';
const time: Check = Number.isFinite;
const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const word: Check = (value) => count(value) && Number(value) < 2 ** 32;
const id: Check = (value) => text(value) || count(value);

function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

function orNull(check: Check): Check {
  return (value) => value === null || check(value);
}

function list(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

function record<T>(shape: Shape<T>): Check {
  const checks = Object.entries<Check>(shape);
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const fields = new Map<string, unknown>(Object.entries(value));
    return checks.every(([name, check]) => check(fields.get(name)));
  };
}

const ref = record<Ref>({ object: text, offset: count, length: count, hash: word });

const state = record<StateRecord>({
  id,
  meta: record<Metadata>({
    mode: count,
    uid: count,
    gid: count,
    atime: time,
    mtime: time,
    ctime: time,
    birthtime: time,
  }),
  version: count,
  listing: count,
  tree: count,
  size: count,
  files: count,
  directories: count,
  linked: count,
  height: count,
  reach: count,
  count,
  levels: count,
  page: orNull(ref),
  inodes: orNull(ref),
  linkedSize: count,
  inodesVersion: count,
});

const head = record<Head>({
  filesystem: text,
  nonce: text,
  epoch: count,
  commit: count,
  state,
  kept: list(record<CheckpointRecord>({ id: text, name: optional(text), createdAt: time, state })),
  forks: list(record<ForkRecord>({ id: text, createdAt: time, state })),
  clients: list(record<ClientRecord>({ client: text, flight: count, commit: count })),
  limits: record<Limits>({
    maxTotalSize: optional(count),
    maxFileSize: optional(count),
    maxNodeCount: optional(count),
    maxCheckpoints: optional(count),
  }),
  gathered: record<CompactionProgress>({ small: count, large: count }),
});

/** Reports whether decoded JSON is a head; unknown fields are ignored. */
export function isHead(value: unknown): value is Head {
  return head(value);
}
