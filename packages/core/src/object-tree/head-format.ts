import { StorageError } from '../errors.js';
import { corrupt } from './corrupt.js';
import type { Head } from './head.js';
import { isHead } from './head-shape.js';
import { hashOf } from './ref.js';

/** The written format; others are refused. */
const FORMAT = 1;
const MAGIC = 'scratchfs object tree';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Encodes a head: a first line with the format, the length and the hash of the rest, then JSON. */
export function encodeHead(head: Head): Uint8Array<ArrayBuffer> {
  const body = encoder.encode(JSON.stringify(head));
  const line = encoder.encode(`${MAGIC} ${FORMAT} ${body.length} ${hashOf(body).toString(16)}\n`);
  const bytes = new Uint8Array(line.length + body.length);
  bytes.set(line);
  bytes.set(body, line.length);
  return bytes;
}

/** @throws StorageError `corrupt` for bytes that are not a head or damaged, `version` for another format */
export function decodeHead(bytes: Uint8Array): Head {
  const end = bytes.subarray(0, 200).indexOf(10);
  const line = new RegExp(`^${MAGIC} (\\d{1,9}) (\\d{1,12}) ([0-9a-f]{1,8})$`).exec(
    decoder.decode(bytes.subarray(0, Math.max(0, end))),
  );
  if (line === null)
    throw new StorageError('corrupt', 'What lies where the head of the filesystem should be is something else');
  if (Number(line[1]) !== FORMAT)
    throw new StorageError(
      'version',
      `The stored filesystem has format ${line[1]}, this release reads format ${FORMAT}`,
    );
  const body = bytes.subarray(end + 1);
  if (body.length !== Number(line[2]) || hashOf(body) !== Number.parseInt(line[3] as string, 16))
    throw corrupt('its head has other bytes than it was written with');
  const head = parsed(decoder.decode(body));
  if (!isHead(head)) throw corrupt('its head has missing or wrong fields');
  return head;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
