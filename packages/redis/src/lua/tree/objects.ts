import { lua } from '../lua.js';

/**
 * Objects by number, and how to read them.
 *
 * Everything is kept in a few tables instead of local functions: making a closure costs what it captures, and a script
 * makes all of them anew each time it runs. What is rarely needed is made when it is asked for (`RARE`).
 *
 * `KEYS`: 1 the head, 2 objects, 3 references, 4 queue, 5 the client's results, 6 what watchers are told (a commit has it only where it
 * brings that).
 */
export const OBJECTS = lua`
local objects = { fresh = {} }

function objects.fail(kind, what)
  error({ err = 'SCRATCHFS ' .. kind .. ' ' .. what })
end

-- An object by number; those that the running script has made are not stored yet.
function objects.get(id)
  local value = objects.fresh[id] or redis.call('HGET', KEYS[2], id)
  if not value then objects.fail('LOST', 'object ' .. id .. ' is gone') end
  return value
end

-- The same, if it is of a kind.
function objects.of(kind, id)
  local value = objects.get(id)
  local found, number = struct.unpack('>Bd', value)
  -- Chunks that were stored as they were sent have no number.
  if found ~= kind or (number ~= id and (kind ~= 67 or number > 0)) then objects.fail('CORRUPT', 'object ' .. id .. ' is something else') end
  return value
end

-- How many bytes a chunk of one segment has.
function objects.lengthOf(chunk)
  return #chunk - 34
end

-- A node's id within 24 bytes: its length, then its text.
function objects.slotOfId(id)
  return string.char(#id) .. id .. ('\0'):rep(23 - #id)
end

function objects.idInSlot(slot)
  return slot:sub(2, 1 + slot:byte())
end

-- Arrays: a tree of pages of 128 references whose height follows from the number of elements.
function objects.levels(n)
  local level, reach = 0, 1
  while reach < n do level, reach = level + 1, reach * FANOUT end
  return level
end

-- The reference in a slot of an array's page, and its transform.
function objects.slotOfPage(page, slot)
  local at = 11 + 33 * page:byte(10) + 9 * slot
  if at > #page then return 0 end
  local t, ref = struct.unpack('>I1d', page, at)
  return ref, t > 0 and page:sub(33 * t - 22, 33 * t + 10) or nil
end

-- Element i of an array of n, and its transform.
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

-- Buckets of a directory grow one at a time (linear hashing), so that no step ever moves more than one of them.
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

-- The position of a name among those of a bucket, which can hold neither NUL nor '/', and where it begins. It is sought by what
-- is rare: of zeros the records are full, and to count them by a pattern takes longer the longer the names are.
function objects.indexOf(value, name, from, to)
  local sought, at = name .. '/', from
  repeat at = value:find(sought, at + 1, true) until not at or at > to or value:byte(at - 1) == 0
  if not at or at > to then return nil end
  local index, before = 0, from
  while before < at - 1 do index, before = index + 1, value:find('\0', before + 1, true) end
  return index, at - 1
end
`;

/** How what is beneath a copied directory is seen: through a transform, which says how it differs from its source. */
export const TRANSFORMS = lua`
-- Of two transforms, 33 bytes each, the inner one first, what both do.
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

-- A record as it is seen through a transform.
function objects.copiedRecord(record, transform)
  -- A name of a file with several is never beneath a transform for long: the copy gives it a file of its own.
  if not transform or record:byte() == 108 then return record end
  if record:byte() == 100 then
    local own = objects.storedTransform(record:sub(26, 58))
    return record:sub(1, 25) .. objects.compose(own, transform) .. record:sub(59)
  end
  return record:sub(1, 25) .. objects.copiedMeta(record:sub(26, 69), transform)
    .. objects.copiedSlot(record:sub(70), transform)
end
`;
