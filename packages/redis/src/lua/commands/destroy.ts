import { RESULTS_FIELD } from '../layout.js';
import { lua } from '../lua.js';

/**
 * Deletes all keys of a filesystem, whatever its layout version is. `ARGV[1]` is the identity of the filesystem to
 * delete, '' for remains without a head, or '?' to ask. The other arguments name the clients that store results, which
 * are `KEYS[6]` and later. Returns the identity and the clients if these arguments do not match what is stored.
 */
export const DESTROY = lua`
local types = { 'hash', 'hash', 'hash', 'list', 'stream' }
for i = 1, 5 do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= types[i] then return { 'T', KEYS[i], kind } end
end
local identity = (redis.call('HGET', KEYS[1], 't') or ''):match('^[^:]*')
local reply, given, isComplete = { 'R', identity }, {}, true
for i = 2, #ARGV do given[ARGV[i]] = true end
for _, key in ipairs(redis.call('HKEYS', KEYS[1])) do
  if key:sub(1, 2) == '${RESULTS_FIELD}' then
    reply[#reply + 1] = key:sub(3)
    isComplete = isComplete and given[key:sub(3)]
  end
end
if identity ~= ARGV[1] or not isComplete then return reply end
for i = 1, #KEYS do redis.call('UNLINK', KEYS[i]) end
return { 'K' }
`;

/** Deletes the results of a client that has ended: `KEYS[2]`. `ARGV[1]` is its name, `KEYS[1]` the head. */
export const LEAVE = lua`
redis.call('DEL', KEYS[2])
redis.call('HDEL', KEYS[1], '${RESULTS_FIELD}' .. ARGV[1])
`;
