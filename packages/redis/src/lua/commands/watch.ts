import { lua } from '../lua.js';

/**
 * Renews a watcher's lease for `ARGV[2]` milliseconds. `ARGV[3]` is the last entry that it has received, or '' at the
 * beginning. Returns the number of the last entry, and 0 if entries after `ARGV[3]` are missing, otherwise 1. If the
 * filesystem was not watched for a while, an entry number is skipped, so that earlier watchers notice that they have
 * missed changes.
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
return { 'K', decimal(counter), number, isWhole }
`;
