import { lua } from './lua.js';

/** Positions of the fields of a directory object, counted from 1 as in Lua. See `format/stored/directory.ts`. */
export const DIRECTORY_AT = {
  version: 10,
  listing: 18,
  size: 42,
  directories: 58,
  linked: 66,
  root: 74,
  transform: 86,
  mtime: 139,
  birthtime: 155,
  node: 163,
} as const;

/** Distances of the fields of a record from its first byte. See `format/stored/record.ts`. */
export const RECORD_FIELD = { version: 1, size: 9, reference: 17, meta: 25, node: 69 } as const;

/** Bytes of a node id. */
export const NODE_BYTES = 24;

/** Bytes of a chunk of one segment that are not content: its header and the segment's. */
export const CHUNK_OVERHEAD = 34;

/**
 * Prefix of the head's fields that name the clients with stored results, so that `destroy` finds their keys. The value is the server
 * time in milliseconds at which those results have certainly expired.
 */
export const RESULTS_FIELD = 'u/';

/** Sizes of the stored formats (`format/stored`) and helpers that all scripts share. */
export const LAYOUT = lua`
local DIRECTORY = '>c1ddddddddddI4c33c44c24'
-- A directory gets another bucket when it has more than GROW names per bucket.
local RECORD, CHUNK, FANOUT, GROW = 93, 65536, 128, 12
-- By name the first 32 bits of its SHA-1, as far as they are known.
local hashes = {}

local function inHundreds(list, callback)
  for i = 1, #list, 100 do callback(unpack(list, i, math.min(i + 99, #list))) end
end
`;

/** Reads the paths at the beginning of a request's body: parent, name and hash of each. Index 0 is the root. */
export const REQUEST_PATHS = lua`
local blob, parents, names = ARGV[1], {}, {}
-- Position after the paths.
local pathsEnd
do
  local n, at = struct.unpack('>I2', blob, body)
  for i = 1, n do
    local name, hash
    parents[i], name, hash, at = struct.unpack('>I2Bc0I4', blob, at)
    names[i], hashes[name] = name, hash
  end
  pathsEnd = at
end
`;
