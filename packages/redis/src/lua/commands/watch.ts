import { lua } from '../lua.js';

/**
 * Says for so many milliseconds (`ARGV[2]`) that somebody watches, who has heard everything up to an entry (`ARGV[3]`, or
 * '' at the beginning). Answers the number of the last entry, and whether what comes next is still there. Where nobody
 * watched for a while a number is left out: whoever had watched before that has missed something.
 */
export const WATCH = lua`
if redis.call('EXISTS', KEYS[6]) == 1 then redis.call('XLEN', KEYS[6]) end
redis.call('HINCRBY', KEYS[1], 'a#', isWatched() and 0 or 1)
redis.call('HSET', KEYS[1], 'a', milliseconds() + tonumber(ARGV[2]))
redis.call('PEXPIRE', KEYS[6], 60000)
keepAlive()
local number = redis.call('HGET', KEYS[1], 'a#')
local isWhole = 1
if ARGV[3] ~= '' and ARGV[3] ~= number then
  local next = ('%.0f-1'):format(tonumber(ARGV[3]) + 1)
  isWhole = #redis.call('XRANGE', KEYS[6], next, next)
end
return { 'K', shown(counter), number, isWhole }
`;
