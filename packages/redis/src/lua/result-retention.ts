import { lua } from './lua.js';

/** The expiry of the client's results, `KEYS[5]`: a day, renewed when the client asks for it. */
export const RESULT_RETENTION = lua`
local RESULTS_MS = '86400000'

-- Called before any other write it also lets the script run on a server without free memory: Redis refuses only a script's
-- first write, and never this one.
local function renewResults()
  redis.call('PEXPIRE', KEYS[5], RESULTS_MS)
end
`;
