import { lua } from './lua.js';

/**
 * Who refers to what. An object has one reference, and further ones are counted in `R`; without any it waits in `Q`
 * to be freed. Scripts collect changes in `delta` and settle them once, at the end.
 */
export const REFERENCES = lua`
local delta = {}
local function account(id, by)
  if id ~= 0 then delta[id] = (delta[id] or 0) + by end
end

-- Calls back with everything an object refers to.
local function eachReference(value, callback)
  local kind = byte(value)
  if kind == 68 then
    local root = unpack('>d', value, 74)
    if root ~= 0 then callback(root) end
  elseif kind == 76 then
    local count, length = unpack('>I2I4', value, 10)
    for i = 0, count - 1 do
      local ref = unpack('>d', value, 33 + length + RECORD * i)
      if ref ~= 0 then callback(ref) end
    end
  elseif kind == 65 then
    for at = 12 + 33 * byte(value, 10), #value, 9 do
      local ref = unpack('>d', value, at)
      if ref ~= 0 then callback(ref) end
    end
  end
end

-- Settles what was accounted for objects that are stored already. Objects known to refer to nothing go at once.
local function settle(isPlain)
  local dead, plain = {}, {}
  for id, by in pairs(delta) do
    if by > 0 then call('HINCRBY', R, id, by)
    elseif by < 0 then
      local further = tonumber(call('HGET', R, id) or 0) + by
      if further > 0 then call('HSET', R, id, further)
      else
        if further - by > 0 then call('HDEL', R, id) end
        if further < 0 then
          if isPlain and isPlain[id] then plain[#plain + 1] = id else dead[#dead + 1] = id end
        end
      end
    end
  end
  for i = 1, #plain, 100 do call('HDEL', O, spread(plain, i, math.min(i + 99, #plain))) end
  for i = 1, #dead, 100 do call('RPUSH', Q, spread(dead, i, math.min(i + 99, #dead))) end
  delta = {}
end
`;
