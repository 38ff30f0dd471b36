import { lua } from './lua.js';

/**
 * Applies each operation at most once. `KEYS[5]` is the hash of the client's results. An operation that has a result,
 * applied or refused, returns it again. An operation below the client's floor has come too late and is refused.
 */
export const IDEMPOTENCY = lua`
local sequences, floorSeq, highest = {}, nil, nil

-- Loads the results of a request's operations. Returns false if the client's results are lost. Usually all numbers are higher
-- than any that has a result, and the hash, which Redis searches from its beginning, need not be read.
local function loadResults(numbers)
  local found = redis.call('HMGET', KEYS[5], 'f', 'h')
  floorSeq, highest = found[1] and tonumber(found[1]), found[2] and tonumber(found[2])
  if not floorSeq then return false end
  if not highest or math.min(unpack(numbers)) <= highest then
    local results = redis.call('HMGET', KEYS[5], unpack(numbers))
    for i, seq in ipairs(numbers) do sequences[seq] = results[i] end
  end
  return true
end

local function storedResult(seq)
  if seq == 0 then return nil end
  if seq < floorSeq then return 's' end
  return sequences[seq] or nil
end

-- Stores a list of numbers and results. isAlone: the script writes nothing else, so a full server must not refuse it.
local function storeResults(results, isAlone)
  if isAlone or renewsResults == 1 then renewResults() end
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
    local acknowledged = {}
    for seq in settled:gmatch('%d+') do acknowledged[#acknowledged + 1] = seq end
    -- A client acknowledges at most a thousand in a request (MAX_ACKNOWLEDGED).
    redis.call('HDEL', KEYS[5], unpack(acknowledged))
  end
end
`;
