import { lua } from '../lua.js';

/**
 * What became of an operation, by its number (`ARGV[2]`). One that did not arrive is given up: it will be refused. That
 * draws a number too, so that a server that loses it is noticed.
 */
export const OUTCOME = lua`
local seq = tonumber(ARGV[2])
if not known({ seq }) then return { 'F' } end
local answer = answered(seq)
if not answer then
  answer = 'a'
  remember({ seq, answer }, true)
  counter = counter + 1
  redis.call('HSET', KEYS[1], 'n', counter)
elseif settled ~= '' then remember({}, true) end
return { 'K', shown(counter), answer }
`;
