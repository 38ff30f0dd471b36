import { lua } from './lua.js';

/**
 * The beginning of every script but `handshake`, `destroy` and `leave`. It parses the request header in `ARGV[1]`
 * (`format/request/request-header.ts`). It refuses the request if the filesystem is not the one that the client knows,
 * or has lost writes that the client has seen.
 */
export const PREAMBLE = lua`
local highestCounter, ttl, floor, holdsLock, onlyRemoves, fitsFastPath, hasAnnouncements, renewsResults, token, field,
  settled, body =
  struct.unpack('>dddBBBBBBc0I2c0I2c0', ARGV[1])
local head = redis.call('HMGET', KEYS[1], 't', 'n', field, 'x/' .. field, 'a', 'q')
if head[1] ~= token then return { 'E', head[1] or '' } end
local counter = tonumber(head[2])
if counter < highestCounter then return { 'B' } end
if not head[3] then return { 'G' } end
-- The check of a state covers its two references.
if redis.sha1hex(head[3]:sub(1, 16)):sub(1, 8) ~= head[3]:sub(33, 40) then error({ err = 'SCRATCHFS CORRUPT a state is damaged' }) end

local function decimal(number)
  return ('%.0f'):format(number)
end

local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Reports whether a staged commit has locked the state.
local function isLocked()
  return head[4] and tonumber(head[4]) > milliseconds()
end

-- Reports whether a client watches the filesystem: watchers renew a lease. A fork belongs to one client and is not watched.
local function isWatched()
  return field == 's' and head[5] and tonumber(head[5]) > milliseconds()
end

local function keepAlive()
  if ttl > 0 then
    for i = 1, 4 do redis.call('PEXPIRE', KEYS[i], ttl) end
  end
end
`;
