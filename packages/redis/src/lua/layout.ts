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
  end: 186,
} as const;

/** Distances of the fields of a record from its first byte. See `format/stored/record.ts`. */
export const RECORD_FIELD = { version: 1, size: 9, reference: 17, meta: 25, node: 69 } as const;

/** Bytes of a node id. */
export const NODE_BYTES = 24;

/** Bytes of a chunk of one segment, as a client sends it, that are not content: its header and the segment's. */
export const CHUNK_OVERHEAD = 26;

/**
 * Prefix of the head's fields that name the clients with stored results, so that `destroy` finds their keys. The value
 * is the server time in milliseconds at which those results have certainly expired.
 */
export const RESULTS_FIELD = 'u/';

/** Sizes of the stored formats (`format/stored`), and helpers of all scripts that read or write stored objects. */
export const LAYOUT = lua`
local DIRECTORY = '>c1ddddddddddI4c33c44c24'
-- A directory gets another bucket when it has more than GROW names per bucket.
local CHUNK, FANOUT, GROW = 65536, 128, 12
-- Least bytes of a large chunk.
local LARGE = 8192
-- Bytes of a record without its check, and the distance of records in a bucket.
local RECORD, STRIDE = 93, 101
-- By name the first 32 bits of its SHA-1, as far as they are known.
local hashes = {}

-- Returns the check of an object, which follows it in its stored form. The object of a directory or bucket may already
-- have it. It covers all of a page; of a directory all but its versions and totals, which every write changes; of a
-- bucket the names. Its records have checks of their own, so that a change of one need not read the others.
local function checkOf(object)
  local kind = object:byte()
  if kind == 68 then object = object:sub(${DIRECTORY_AT.root}, ${DIRECTORY_AT.end})
  elseif kind == 76 then object = object:sub(1, 15 + struct.unpack('>I4', object, 12)) end
  return redis.sha1hex(object):sub(1, 8)
end

-- Returns the check of a name's record, which follows it in a bucket. number is the bucket's, in its stored form.
local function recordCheck(number, name, record)
  return redis.sha1hex(number .. name .. '/' .. record):sub(1, 8)
end

-- Returns the record at a position of a bucket, or nil if it is damaged.
local function recordAt(bucket, from, name)
  local record = bucket:sub(from, from + RECORD - 1)
  if recordCheck(bucket:sub(2, 9), name, record) == bucket:sub(from + RECORD, from + STRIDE - 1) then return record end
end

local function isChunk(value)
  local kind = value:byte()
  return kind == 67 or kind == 66
end

-- Returns the field that has the digest of a large chunk.
local function digestField(id)
  return ('b%.0f'):format(id)
end

-- Returns an object from its stored form, or nil if it is damaged or belongs to another number. If keepsCheck is set,
-- directories and buckets keep their check, which saves a copy. A chunk ends in its number, and its segments have
-- digests, which the client verifies. A large one is stored as it was sent, because appending the number would create
-- its bytes once more; its digest lies in a field of its own.
local function unsealed(id, stored, keepsCheck)
  if #stored < 10 then return nil end
  local kind = stored:byte()
  if kind == 66 then return redis.call('HGET', KEYS[2], digestField(id)) == stored:sub(3, 18) and stored or nil end
  if kind == 67 then return struct.unpack('>d', stored, #stored - 7) == id and stored or nil end
  if #stored < (kind == 76 and 23 or 18) or struct.unpack('>d', stored, 2) ~= id then return nil end
  local object = keepsCheck and kind ~= 65 and stored or stored:sub(1, -9)
  if checkOf(object) == stored:sub(-8) then return object end
end

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
