import { lua } from '../lua.js';

/**
 * Frees objects without references. Freeing one removes its references to others, which may then have none themselves
 * and are queued. `ARGV[2]` is about the number of references that one run may follow. The rest stays in the queue.
 */
export const FREE = lua`
local left = tonumber(ARGV[2])
redis.call('HLEN', KEYS[3])
local waiting = redis.call('LRANGE', KEYS[4], 0, left - 1)
local gone, digests = {}, {}
while left > 0 and #gone < #waiting do
  local id = waiting[#gone + 1]
  gone[#gone + 1] = id
  left = left - 1
  local value = redis.call('HGET', KEYS[2], id)
  if value and value:byte() == 66 then digests[#digests + 1] = digestField(tonumber(id)) end
  -- The references of a damaged object are not followed: what it referred to stays.
  value = value and unsealed(tonumber(id), value)
  if value then
    -- Scanning a large object takes as long as following many references.
    left = left - math.floor(#value / 4096)
    refs.each(value, function(ref)
      left = left - 1
      refs.account(ref, -1)
    end)
  end
end
inHundreds(gone, function(...) redis.call('HDEL', KEYS[2], ...) end)
inHundreds(digests, function(...) redis.call('HDEL', KEYS[2], ...) end)
if #gone > 0 then redis.call('LTRIM', KEYS[4], #gone, -1) end
refs.settle()
return { 'K', decimal(counter), redis.call('LLEN', KEYS[4]) }
`;
