import { lua } from '../lua.js';

/**
 * Parses a commit request, as far as that is possible without reading the tree. The body has the paths that the batches
 * name, then the batches. The arguments after `ARGV[1]` are pieces of content, as chunks of one segment, and last the
 * changes for watchers, batch by batch. If the filesystem is watched and they are missing, the request is refused.
 */
export const COMMIT_REQUEST = lua`
if isLocked() and holdsLock == 0 then return { 'W' } end
local watched = isWatched()
if watched and hasAnnouncements == 0 then return { 'N' } end
-- Number of arguments before the contents.
local BEFORE_CONTENTS = 1
local n, at = struct.unpack('>I2', blob, pathsEnd)
-- Number and position of each batch.
local numbers, begins = {}, {}
for i = 1, n do
  local length
  numbers[i], length, at = struct.unpack('>dI4', blob, at)
  begins[i], at = at, at + 32 + length
end
if not loadResults(numbers) then return { 'F' } end
-- A server without free memory must not refuse removals.
if onlyRemoves == 1 then renewResults() end
-- A key of another type must fail before anything is written.
local further = redis.call('HLEN', KEYS[3])
local waiting = redis.call('LLEN', KEYS[4])
local answers, results = {}, {}
-- The stored limits as a batch begins with them; batches with others are refused. A fork belongs to one client and
-- stores none.
local limits = field == 's' and head[6] and head[6]:sub(1, 24)
if limits and redis.sha1hex(head[6]:sub(1, 32)):sub(1, 8) ~= head[6]:sub(33) then
  error({ err = 'SCRATCHFS CORRUPT the stored limits are damaged' })
end

-- Returns the reply, one text in lines: the counter; then the number of objects that wait to be freed, the cost, and
-- the number of the entry for watchers ('0' if nothing changed, '-' if the filesystem is not watched); then one result
-- for each batch.
local function commitReply(spent, entry)
  keepAlive()
  local totals = waiting .. ' ' .. math.ceil(spent) .. ' ' .. (entry or '-')
  return 'K\n' .. decimal(counter) .. '\n' .. totals .. '\n' .. table.concat(answers, '\n')
end
`;
