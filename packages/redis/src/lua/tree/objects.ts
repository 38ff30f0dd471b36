import { CHUNK_OVERHEAD } from '../layout.js';
import { lua } from '../lua.js';

/**
 * Reads objects by number.
 *
 * Functions are fields of a few tables instead of locals. Each run of a script creates all of its closures, and
 * creating one costs time for each variable that it captures; so it captures one table instead of many functions.
 * Functions that are rarely needed are created on demand (`rare()`).
 *
 * `KEYS`, as far as a script needs them: 1 head, 2 objects, 3 references, 4 queue, 5 the client's results, 6 the stream
 * for watchers (a commit has it only if it carries changes for them).
 */
export const OBJECTS = lua`
local objects = { fresh = {} }

function objects.fail(kind, what)
  error({ err = 'SCRATCHFS ' .. kind .. ' ' .. what })
end

-- Returns an object by number. Objects that the running script has made are not stored yet.
function objects.get(id)
  local value = objects.fresh[id]
  if value then return value end
  value = redis.call('HGET', KEYS[2], id)
  if not value then objects.fail('LOST', 'object ' .. id .. ' is gone') end
  value = unsealed(id, value, objects.keepChecks)
  if not value then objects.fail('CORRUPT', 'object ' .. id .. ' is damaged') end
  return value
end

-- Returns an object of a kind; for a chunk, a large one too.
function objects.of(kind, id)
  local value = objects.get(id)
  local found = value:byte()
  if found ~= kind and (kind ~= 67 or found ~= 66) then objects.fail('CORRUPT', 'object ' .. id .. ' is something else') end
  return value
end

-- Returns the number of content bytes in a chunk of one segment that a client sent.
function objects.lengthOf(chunk)
  return #chunk - ${CHUNK_OVERHEAD}
end

-- Encodes a node id in 24 bytes: its length, then its text.
function objects.slotOfId(id)
  return string.char(#id) .. id .. ('\0'):rep(23 - #id)
end

function objects.idInSlot(slot)
  return slot:sub(2, 1 + slot:byte())
end

-- Returns the height of an array of n elements: a tree of pages of 128 references.
function objects.levels(n)
  local level, reach = 0, 1
  while reach < n do level, reach = level + 1, reach * FANOUT end
  return level
end

-- Returns the reference in a slot of an array's page, and its transform.
function objects.slotOfPage(page, slot)
  local at = 11 + 33 * page:byte(10) + 9 * slot
  if at > #page then return 0 end
  local t, ref = struct.unpack('>I1d', page, at)
  return ref, t > 0 and page:sub(33 * t - 22, 33 * t + 10) or nil
end

-- Returns element i of an array of n, and its transform.
function objects.element(ref, transform, n, i)
  local level = objects.levels(n)
  while level > 0 and ref ~= 0 do
    local span = FANOUT ^ (level - 1)
    local inner
    ref, inner = objects.slotOfPage(objects.of(65, ref), math.floor(i / span))
    if inner then transform = objects.compose(inner, transform) end
    i, level = i % span, level - 1
  end
  return ref, transform
end

-- Buckets are added one at a time (linear hashing), so that no step splits more than one.
local halves = {}

function objects.bucketOf(name, n)
  if n == 1 then return 0 end
  local hash = hashes[name]
  if not hash then
    hash = tonumber(redis.sha1hex(name):sub(1, 8), 16)
    hashes[name] = hash
  end
  local half = halves[n]
  if not half then
    half = 1
    while half * 2 <= n do half = half * 2 end
    halves[n] = half
  end
  local bucket = hash % (half * 2)
  if bucket >= n then bucket = bucket - half end
  return bucket
end

-- Returns the index of a name in a bucket, and its position. Names contain neither NUL nor '/'. The search is for the name with its
-- '/': NUL is frequent in records, and counting NULs with a pattern takes longer the longer the names are.
function objects.indexOf(value, name, from, to)
  local sought, at = name .. '/', from
  repeat at = value:find(sought, at + 1, true) until not at or at > to or value:byte(at - 1) == 0
  if not at or at > to then return nil end
  local index, before = 0, from
  while before < at - 1 do index, before = index + 1, value:find('\0', before + 1, true) end
  return index, at - 1
end
`;

/**
 * Applies transforms, which describe how a copied subtree differs from its source. See `format/stored/transform.ts`.
 */
export const TRANSFORMS = lua`
-- Returns the transform that applies inner first, then outer.
function objects.compose(inner, outer)
  if not inner then return outer end
  if not outer then return inner end
  local salt = redis.sha1hex(inner:sub(2, 17) .. outer:sub(2, 17)):sub(1, 16)
  if outer:byte() == 107 then return inner:sub(1, 1) .. salt .. outer:sub(18, 25) .. inner:sub(26, 33) end
  return 't' .. salt .. outer:sub(18, 33)
end

function objects.copiedMeta(meta, transform)
  local times = transform:byte() == 107 and meta:sub(13, 28) or transform:sub(26, 33):rep(2)
  return meta:sub(1, 4) .. '\0\0\0\0\0\0\0\0' .. times .. transform:sub(18, 25):rep(2)
end

function objects.copiedSlot(slot, transform)
  return objects.slotOfId(redis.sha1hex(transform:sub(2, 17) .. objects.idInSlot(slot)):sub(1, 20))
end

function objects.storedTransform(bytes)
  if bytes:byte() == 0 then return nil end
  return bytes:sub(1, 33)
end

-- Applies a transform to a record.
function objects.copiedRecord(record, transform)
  -- A copy replaces names of files with several names by files of their own, so such a record has no transform.
  if not transform or record:byte() == 108 then return record end
  if record:byte() == 100 then
    local own = objects.storedTransform(record:sub(26, 58))
    return record:sub(1, 25) .. objects.compose(own, transform) .. record:sub(59)
  end
  return record:sub(1, 25) .. objects.copiedMeta(record:sub(26, 69), transform)
    .. objects.copiedSlot(record:sub(70), transform)
end
`;
