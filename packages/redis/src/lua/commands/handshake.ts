import { lua } from '../lua.js';

/**
 * Connects a client: opens the filesystem or creates it, and begins a new epoch if the server has lost its scripts. The
 * counter of the new epoch is far above all numbers that may have been lost.
 *
 * `ARGV`: 1 layout version; 2 the token that the client knows, or ''; 3 identity for a new filesystem, or ''; 4 '1' to
 * begin an epoch; 5 and 6 the new root's metadata and node id; 7 time to live in milliseconds, or 0; 8 '1' if the
 * server has restarted, so that watchers may have missed changes; 9 a random number for a new epoch; 10 '1' to create
 * the client's results; 11 the client's name. A client that does not know yet that its results are lost is told by the
 * next script.
 *
 * Returns the token, the counter, and the counter at the end of the epoch that the client knows ('' if that has not
 * ended).
 */
export const HANDSHAKE = lua`
for i = 1, 4 do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= (i == 4 and 'list' or 'hash') then return { 'T', KEYS[i], kind } end
end
local kind = redis.call('TYPE', KEYS[6]).ok
if kind ~= 'none' and kind ~= 'stream' then return { 'T', KEYS[6], kind } end
local format = redis.call('HMGET', KEYS[1], 'f', 't', 'n')
if not format[2] then
  for i = 1, 4 do if redis.call('EXISTS', KEYS[i]) == 1 then return { 'P', KEYS[i] } end end
  if ARGV[2] ~= '' or ARGV[3] == '' then return { 'N' } end
  local node = ARGV[6]
  local root = struct.pack(DIRECTORY, 'D', 1, 2, 2, 2, 0, 0, 0, 0, 0, 0, 1, ('\0'):rep(33), ARGV[5], objects.slotOfId(node))
  redis.call('DEL', KEYS[6])
  redis.call('HSET', KEYS[2], 1, root .. checkOf(root))
  local state = struct.pack('>dddd', 1, 0, 0, 0)
  state = state .. redis.sha1hex(state:sub(1, 16)):sub(1, 8)
  redis.call('HSET', KEYS[1], 'f', ARGV[1], 't', ARGV[3] .. ':1', 'n', 2, 's', state)
  format = redis.call('HMGET', KEYS[1], 'f', 't', 'n')
end
if format[1] ~= ARGV[1] then return { 'V', format[1] or '' } end
local identity, epoch = string.match(format[2], '^(.*):(%d+)$')
local wanted, known = string.match(ARGV[2], '^(.*):(%d+)$')
if wanted and wanted ~= identity then return { 'N' } end
epoch = tonumber(epoch)
renewResults()
if ARGV[4] == '1' then
  local before = tonumber(format[3])
  redis.call('HSET', KEYS[1], 'p' .. epoch, before)
  -- A random step: two servers that diverged must not begin the same epoch.
  epoch = epoch + 1 + tonumber(ARGV[9])
  format[2], format[3] = identity .. ':' .. epoch, before + 16777216
  redis.call('HSET', KEYS[1], 't', format[2], 'n', format[3])
end
if ARGV[8] == '1' then redis.call('HINCRBY', KEYS[1], 'a#', 16777216) end
local ended = ''
if known and tonumber(known) ~= epoch then
  ended = redis.call('HGET', KEYS[1], 'p' .. known)
  -- This server does not know the client's epoch.
  if not ended then return { 'N' } end
end
if ARGV[10] == '1' then redis.call('HSETNX', KEYS[5], 'f', 0) end
registerResults(ARGV[11])
renewResults()
local ttl = tonumber(ARGV[7])
if ttl > 0 then for i = 1, 4 do redis.call('PEXPIRE', KEYS[i], ttl) end end
return { 'K', format[2], ('%.0f'):format(tonumber(format[3])), ended }
`;
