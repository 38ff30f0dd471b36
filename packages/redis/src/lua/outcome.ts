import { lua } from './lua.js';

/**
 * What became of an operation, by its number (`ARGV[5]`). One that did not arrive is given up: it will be refused. That
 * draws a number too, so that a server that loses it is noticed.
 */
export const OUTCOME = lua`
local floorSeq, answer = unpack(redis.call('HMGET', KEYS[5], 'f', ARGV[5]))
if not floorSeq then return { 'F' } end
if tonumber(ARGV[5]) < tonumber(floorSeq) then return { 'K', shown(counter), 's' } end
if not answer then
  answer = 'a'
  -- Written first, so that a server without memory left takes the rest too.
  redis.call('PEXPIRE', KEYS[5], 86400000)
  redis.call('HSET', KEYS[5], ARGV[5], answer)
  counter = counter + 1
  redis.call('HSET', KEYS[1], 'n', counter)
end
return { 'K', shown(counter), answer }
`;
