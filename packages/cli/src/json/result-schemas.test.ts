import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../table/commands.js';
import { COMMANDS_WITH_RESULT, resultSchema } from './result-schemas.js';

/** Commands that print no object: a server with a protocol of its own, and a screen for a person. */
const WITHOUT_RESULT = ['mcp', 'rewind'];

describe('resultSchema()', () => {
  it('knows every command but those that print no object', () => {
    const names = COMMANDS.map(({ name }) => name).filter((name) => !WITHOUT_RESULT.includes(name));
    expect([...COMMANDS_WITH_RESULT].sort()).toEqual(names.sort());
    for (const name of names) expect(resultSchema(name)).toMatchObject({ properties: { version: { const: 1 } } });
  });
});
