import { RESULTS_FIELD } from './layout.js';
import { lua } from './lua.js';

/**
 * The expiry of the client's results, `KEYS[5]`: a day, renewed when the client asks for it. The results protect a
 * client that sends a request again because its reply was lost. A client that closes never asks again, and deletes them
 * (`commands/destroy.ts`).
 */
export const RESULT_RETENTION = lua`
local RESULTS_MS = '86400000'

-- Called before any other write it also lets the script run on a server without free memory: Redis refuses only a script's
-- first write, and never this one.
local function renewResults()
  redis.call('PEXPIRE', KEYS[5], RESULTS_MS)
end

-- Names the client in the head, with a time at which its results have certainly expired. Each sweep registers it again,
-- so a commit renews the results for another day at most a few minutes after the last registration; an hour is added
-- for that.
local function registerResults(client)
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], '${RESULTS_FIELD}' .. client, ('%.0f'):format(time[1] * 1000 + RESULTS_MS + 3600000))
end
`;
