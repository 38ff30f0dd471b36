import { Command } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { scripts } from '../lua/scripts.js';
import { ScriptCommand } from './script-command.js';

const written = (command: Command): string => Buffer.from(command.toWritable({})).toString('latin1');

describe('ScriptCommand', () => {
  const { commit, load } = scripts;
  const keys = ['{tést}:m', '{tést}:o'];

  it('encodes the same bytes as ioredis, repeatedly', () => {
    const long = Buffer.alloc(100_000, 7);
    for (const args of [[], [''], ['é', 12, Buffer.of(0, 13, 10)], [Buffer.alloc(0), long, -1.5, 'x'.repeat(70_000)]])
      for (const script of [commit, load]) {
        const plain = new Command('evalsha', [script.sha, keys.length, ...keys, ...args], { replyEncoding: null });
        const command = new ScriptCommand(script, keys, args);
        expect(written(command)).toBe(written(plain));
        expect(written(command)).toBe(written(plain));
      }
  });

  it('has the keys and the slot of the plain command', () => {
    const plain = new Command('evalsha', [commit.sha, keys.length, ...keys, 'x']);
    const command = new ScriptCommand(commit, keys, ['x']);
    expect(command.getKeys()).toEqual(plain.getKeys());
    expect(command.getSlot()).toBe(plain.getSlot());
  });
});
