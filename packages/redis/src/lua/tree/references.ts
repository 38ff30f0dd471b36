import { lua } from '../lua.js';

/**
 * Reference counting. An object has one reference; additional ones are counted in the references hash. An object
 * without any is queued to be freed. Scripts collect changes in `delta` and store them together.
 */
export const REFERENCES = lua`
local refs = { delta = {} }

function refs.account(id, by)
  if id ~= 0 then refs.delta[id] = (refs.delta[id] or 0) + by end
end

-- Calls back with each reference of an object.
function refs.each(value, callback)
  local kind = value:byte()
  local from, to, step = 74, kind == 68 and 74 or 0, 1
  if kind == 76 then
    local count, length = struct.unpack('>I2I4', value, 10)
    from, step = 33 + length, STRIDE
    to = from + STRIDE * count - 1
  elseif kind == 65 then from, to, step = 12 + 33 * value:byte(10), #value, 9 end
  for at = from, to, step do
    local ref = struct.unpack('>d', value, at)
    if ref ~= 0 then callback(ref) end
  end
end

-- Stores the collected changes for objects that are already stored. Returns how many were queued to be freed. Objects
-- in isPlain, which refer to no others, are deleted immediately instead.
function refs.settle(isPlain)
  local dead, plain, ids = {}, {}, {}
  for id, by in pairs(refs.delta) do
    if by ~= 0 then ids[#ids + 1] = id end
  end
  inHundreds(ids, function(...)
    local known, set, gone = redis.call('HMGET', KEYS[3], ...), {}, {}
    for i, id in ipairs({ ... }) do
      local before = tonumber(known[i] or 0)
      local further = before + refs.delta[id]
      if further > 0 then
        set[#set + 1] = id
        set[#set + 1] = further
      else
        if before > 0 then gone[#gone + 1] = id end
        if further < 0 then
          local list = isPlain and isPlain[id] and plain or dead
          list[#list + 1] = id
          if list == plain and isPlain[id] >= LARGE then list[#list + 1] = digestField(id) end
        end
      end
    end
    if #set > 0 then redis.call('HSET', KEYS[3], unpack(set)) end
    if #gone > 0 then redis.call('HDEL', KEYS[3], unpack(gone)) end
  end)
  inHundreds(plain, function(...) redis.call('HDEL', KEYS[2], ...) end)
  inHundreds(dead, function(...) redis.call('RPUSH', KEYS[4], ...) end)
  refs.delta = {}
  return #dead
end
`;
