import { lua } from './lua.js';

/**
 * Begins a client: finds the filesystem or makes one, and where the server had forgotten its scripts begins a new epoch,
 * whose numbers are far above all that may have been lost. `ARGV`: format, the token that the client knows or '', the
 * identity of a new filesystem or '', '1' for a new epoch, the new root's metadata and node, milliseconds to live or 0.
 * Answers the token, the counter, and the counter at the end of the epoch that the client knows.
 */
export const HELLO = lua`
local U = KEYS[5]
local format = call('HMGET', M, 'f', 't', 'n')
for i = 1, 4 do
  local kind = call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= (i == 4 and 'list' or 'hash') then return { 'T', KEYS[i], kind } end
end
if not format[2] then
  for i = 1, 4 do if call('EXISTS', KEYS[i]) == 1 then return { 'P', KEYS[i] } end end
  if ARGV[2] ~= '' or ARGV[3] == '' then return { 'N' } end
  local node = ARGV[6]
  local root = pack(DIRECTORY, 'D', 1, 2, 2, 2, 0, 0, 0, 0, 0, 0, 1, rep('\0', 33), ARGV[5], slotOfId(node))
  call('HSET', O, 1, root)
  call('HSET', M, 'f', ARGV[1], 't', ARGV[3] .. ':1', 'n', 2, 's', pack('>dddd', 1, 0, 0, 0))
  format = call('HMGET', M, 'f', 't', 'n')
end
if format[1] ~= ARGV[1] then return { 'V', format[1] or '' } end
local identity, epoch = string.match(format[2], '^(.*):(%d+)$')
local wanted, known = string.match(ARGV[2], '^(.*):(%d+)$')
if wanted and wanted ~= identity then return { 'N' } end
epoch = tonumber(epoch)
if ARGV[4] == '1' then
  local before = tonumber(format[3])
  call('HSET', M, 'p' .. epoch, before)
  call('HDEL', M, 'p' .. (epoch - 100))
  epoch = epoch + 1
  format[2], format[3] = identity .. ':' .. epoch, before + 16777216
  call('HSET', M, 't', format[2], 'n', format[3])
end
local ended = known and tonumber(known) < epoch and call('HGET', M, 'p' .. known) or ''
call('HSETNX', U, 'f', 0)
call('PEXPIRE', U, 86400000)
local ttl = tonumber(ARGV[7])
if ttl > 0 then for i = 1, 4 do call('PEXPIRE', KEYS[i], ttl) end end
return { 'K', format[2], ('%.0f'):format(tonumber(format[3])), ended or '' }
`;
