import { lua } from './lua.js';

/**
 * For what must happen once: `KEYS[5]` is the client's table of results, `ARGV[5]` the number below which all its
 * operations are settled, `ARGV[6]` the numbers whose results it has. An operation that was done answers again what it
 * answered; one below the lowest number came too late and is not done.
 */
export const ONCE = lua`
local U = KEYS[5]
local floorSeq = call('HGET', U, 'f')
if not floorSeq then return { 'F' } end
floorSeq = tonumber(floorSeq)

local function answered(seq)
  if seq == 0 then return nil end
  if seq < floorSeq then return 's' end
  return call('HGET', U, seq) or nil
end

local function remember(results)
  if #results > 0 then call('HSET', U, spread(results)) end
end

local function acknowledge()
  local had = {}
  for seq in string.gmatch(ARGV[6], '%d+') do had[#had + 1] = seq end
  for i = 1, #had, 200 do call('HDEL', U, spread(had, i, math.min(i + 199, #had))) end
  if tonumber(ARGV[5]) > floorSeq then call('HSET', U, 'f', ARGV[5]) end
  call('PEXPIRE', U, 86400000)
end
`;
