import { lua } from '../lua.js';

/**
 * Frees objects that nothing refers to: each lets go of what it refers to, which may then wait itself. `ARGV[2]` is
 * how many references one step may follow. Where a step ends before its time nothing is lost: what waits is in `Q`.
 */
export const FREE = lua`
local left = tonumber(ARGV[2])
redis.call('HLEN', KEYS[3])
local waiting = redis.call('LRANGE', KEYS[4], 0, left - 1)
local gone = {}
while left > 0 and #gone < #waiting do
  local id = waiting[#gone + 1]
  gone[#gone + 1] = id
  left = left - 1
  local value = redis.call('HGET', KEYS[2], id)
  if value then
    -- To look at a large one takes as long as to follow many.
    left = left - math.floor(#value / 4096)
    refs.each(value, function(ref)
      left = left - 1
      refs.account(ref, -1)
    end)
  end
end
inHundreds(gone, function(...) redis.call('HDEL', KEYS[2], ...) end)
if #gone > 0 then redis.call('LTRIM', KEYS[4], #gone, -1) end
refs.settle()
return { 'K', shown(counter), redis.call('LLEN', KEYS[4]) }
`;
