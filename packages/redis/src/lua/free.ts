import { lua } from './lua.js';

/**
 * Frees objects that nothing refers to: each lets go of what it refers to, which may then wait itself. `ARGV[5]` is
 * how many references one step may follow. Where a step ends before its time nothing is lost: what waits is in `Q`.
 */
export const FREE = lua`
call('HLEN', R)
call('HLEN', O)
local left = tonumber(ARGV[5])
local waiting = call('LRANGE', Q, 0, left - 1)
local gone = 0
while left > 0 and gone < #waiting do
  gone = gone + 1
  left = left - 1
  local value = call('HGET', O, waiting[gone])
  if value then
    eachReference(value, function(ref)
      left = left - 1
      account(ref, -1)
    end)
  end
end
for i = 1, gone, 100 do call('HDEL', O, spread(waiting, i, math.min(i + 99, gone))) end
if gone > 0 then call('LTRIM', Q, gone, -1) end
settle()
return { 'K', ARGV[2], call('LLEN', Q) }
`;
