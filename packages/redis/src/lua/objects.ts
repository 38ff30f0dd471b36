import { lua } from './lua.js';

/**
 * What every script knows: objects by number, and how to read them. The formats are described in `format/`.
 * `fresh` holds objects that the running script has made and not stored yet.
 */
export const OBJECTS = lua`
local M, O, R, Q = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local call, sha1 = redis.call, redis.sha1hex
local spread = unpack
local pack, unpack = struct.pack, struct.unpack
local sub, byte, find, gsub, rep = string.sub, string.byte, string.find, string.gsub, string.rep
local floor = math.floor

local DIRECTORY = '>c1ddddddddddI4c33c44c24'
local RECORD = 93
local CHUNK = 65536
local FANOUT = 128

local fresh = {}

local function fail(kind, what)
  error({ err = 'SCRATCHFS ' .. kind .. ' ' .. what })
end

local function get(id)
  local value = fresh[id] or call('HGET', O, id)
  if not value then fail('LOST', 'object ' .. id .. ' is gone') end
  return value
end

local function expect(ok, id)
  if not ok then fail('CORRUPT', 'object ' .. id .. ' is something else') end
end

-- A transform says how what is beneath a copied directory differs from its source: 33 bytes, inner first.
local function compose(inner, outer)
  if not inner then return outer end
  if not outer then return inner end
  local salt = sub(sha1(sub(inner, 2, 17) .. sub(outer, 2, 17)), 1, 16)
  if byte(outer) == 107 then return sub(inner, 1, 1) .. salt .. sub(outer, 18, 25) .. sub(inner, 26, 33) end
  return 't' .. salt .. sub(outer, 18, 33)
end

local function copiedMeta(meta, transform)
  local times = byte(transform) == 107 and sub(meta, 13, 28) or rep(sub(transform, 26, 33), 2)
  return sub(meta, 1, 4) .. '\0\0\0\0\0\0\0\0' .. times .. rep(sub(transform, 18, 25), 2)
end

-- A node's number within 24 bytes: its length, then its text.
local function slotOfId(id)
  return string.char(#id) .. id .. rep('\0', 23 - #id)
end

local function idInSlot(slot)
  return sub(slot, 2, 1 + byte(slot))
end

local function copiedSlot(slot, transform)
  return slotOfId(sub(sha1(sub(transform, 2, 17) .. idInSlot(slot)), 1, 20))
end

local function storedTransform(bytes)
  if byte(bytes) == 0 then return nil end
  return sub(bytes, 1, 33)
end

-- A record as it is seen through a transform.
local function copiedRecord(record, transform)
  -- A name of a file with several is never beneath a transform for long: the copy gives it a file of its own.
  if not transform or byte(record) == 108 then return record end
  if byte(record) == 100 then
    return sub(record, 1, 25) .. compose(storedTransform(sub(record, 26, 58)), transform) .. sub(record, 59)
  end
  return sub(record, 1, 25) .. copiedMeta(sub(record, 26, 69), transform) .. copiedSlot(sub(record, 70), transform)
end

-- Arrays: a tree of pages of 128 references whose height follows from the number of elements.
local function levels(n)
  local level, reach = 0, 1
  while reach < n do level, reach = level + 1, reach * FANOUT end
  return level
end

local function element(ref, transform, n, i)
  local level = levels(n)
  while level > 0 and ref ~= 0 do
    local page = get(ref)
    expect(byte(page) == 65 and unpack('>d', page, 2) == ref, ref)
    local span = FANOUT ^ (level - 1)
    local slot = floor(i / span)
    i = i % span
    local transforms = byte(page, 10)
    local at = 11 + 33 * transforms + 9 * slot
    if at > #page then return 0 end
    local t
    t, ref = unpack('>I1d', page, at)
    if t > 0 then transform = compose(sub(page, 33 * t - 22, 33 * t + 10), transform) end
    level = level - 1
  end
  return ref, transform
end

-- Buckets of a directory grow one at a time (linear hashing), so that no step ever moves more than one of them.
local function bucketOf(name, n)
  if n == 1 then return 0 end
  local hash = tonumber(sub(sha1(name), 1, 8), 16)
  local half = 1
  while half * 2 <= n do half = half * 2 end
  local bucket = hash % (half * 2)
  if bucket >= n then bucket = bucket - half end
  return bucket
end

-- The position of a name in a bucket's names, which can hold neither NUL nor '/'.
local function indexOf(names, name)
  local at = find(names, '\0' .. name .. '/', 1, true)
  if not at then return nil end
  if at == 1 then return 0, 1 end
  local _, index = gsub(sub(names, 1, at - 1), '%z', '')
  return index, at
end
`;
