import { lua } from './lua.js';

/**
 * For what must happen once: `KEYS[5]` is the client's table of results. An operation that was done answers again what it
 * answered; one below the lowest number came too late and is not done.
 */
export const IDEMPOTENCY = lua`
local sequences, floorSeq, highest = {}, nil, nil

-- Which numbers a request is about, before it is known what became of them; false where the client is not known. Mostly all are
-- higher than any that has a result: then there is nothing to look for in a table that is searched from its beginning.
local function known(numbers)
  local found = redis.call('HMGET', KEYS[5], 'f', 'h')
  floorSeq, highest = found[1] and tonumber(found[1]), found[2] and tonumber(found[2])
  if not floorSeq then return false end
  if not highest or math.min(unpack(numbers)) <= highest then
    local results = redis.call('HMGET', KEYS[5], unpack(numbers))
    for i, seq in ipairs(numbers) do sequences[seq] = results[i] end
  end
  return true
end

local function answered(seq)
  if seq == 0 then return nil end
  if seq < floorSeq then return 's' end
  return sequences[seq] or nil
end

-- Results, one after the other with their numbers. Where nothing else has been written they must not be refused.
local function remember(results, isAlone)
  if isAlone or keepsResults == 1 then keepResults() end
  local last = highest or 0
  for i = 1, #results, 2 do last = math.max(last, results[i]) end
  if last > (highest or 0) then
    highest = last
    results[#results + 1] = 'h'
    results[#results + 1] = last
  end
  if floor > floorSeq then
    results[#results + 1] = 'f'
    results[#results + 1] = floor
  end
  if #results > 0 then redis.call('HSET', KEYS[5], unpack(results)) end
  if settled ~= '' then
    local had = {}
    for seq in settled:gmatch('%d+') do had[#had + 1] = seq end
    -- A client names a thousand at most (MAX_TOLD).
    redis.call('HDEL', KEYS[5], unpack(had))
  end
end
`;
