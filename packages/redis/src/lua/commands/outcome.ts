import { lua } from '../lua.js';

/**
 * Returns the outcome of the operation with number `ARGV[2]`. If it has not arrived, stores that it is absent, so that
 * it is refused later. That advances the counter too, so that a server that loses this decision is noticed.
 */
export const OUTCOME = lua`
local seq = tonumber(ARGV[2])
if not loadResults({ seq }) then return { 'F' } end
local answer = storedResult(seq)
if not answer then
  answer = 'a'
  storeResults({ seq, answer }, true)
  counter = counter + 1
  redis.call('HSET', KEYS[1], 'n', counter)
elseif settled ~= '' then storeResults({}, true) end
return { 'K', decimal(counter), answer }
`;
