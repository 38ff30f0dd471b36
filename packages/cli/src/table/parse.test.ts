import { describe, expect, it } from 'vitest';
import { Style } from '../terminal/style.js';
import { COMMANDS } from './commands.js';
import { manual, overview, TOPICS, topic } from './help.js';
import { optionsOf, parseLine } from './parse.js';

const parse = (...argv: string[]) => parseLine(COMMANDS, argv);
const messageOf = (...argv: string[]): string => {
  try {
    parse(...argv);
  } catch (error) {
    return `${(error as Error).message} ${(error as { hint?: string }).hint}`;
  }
  return 'parsed';
};

describe('the table of commands', () => {
  it('has each command and each option of a command once', () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const spec of COMMANDS) {
      const options = optionsOf(spec).flatMap(({ name, short }) => [name, ...(short === undefined ? [] : [short])]);
      expect(new Set(options).size, spec.name).toBe(options.length);
    }
  });

  it.each(COMMANDS.map((spec) => [spec.name, spec] as const))(
    '%s can be loaded, and its help fits a screen',
    async (_, spec) => {
      expect((await spec.load()).run).toBeTypeOf('function');
      const page = manual(spec, new Style(false));
      expect(page.length).toBeLessThanOrEqual(36);
      expect(Math.max(...page.map((line) => line.length))).toBeLessThanOrEqual(80);
    },
  );
});

describe('the pages of help', () => {
  it('fit 80 columns', () => {
    const style = new Style(false);
    const pages = [overview(COMMANDS, style), ...TOPICS.map((name) => topic(name, style) ?? [])];
    for (const line of pages.flat()) expect(line.length, line).toBeLessThanOrEqual(80);
  });
});

describe('parsing', () => {
  it('accepts global options before and after the command', () => {
    for (const argv of [
      ['-C', 'dir', 'fs', 'ls', 'a'],
      ['fs', '-Cdir', 'ls', 'a'],
      ['fs', 'ls', 'a', '--directory=dir'],
    ]) {
      const { spec, args, options } = parse(...argv);
      expect([spec?.name, args, options.text('directory')]).toEqual(['fs ls', ['a'], 'dir']);
    }
  });

  it('says how a number and another directory are given', () => {
    const hintOf = (...argv: string[]): string | undefined => {
      try {
        parse(...argv);
      } catch (error) {
        return (error as { hint?: string }).hint;
      }
      return undefined;
    };
    expect(hintOf('undo', '-12')).toContain('scratchfs undo 12');
    expect(hintOf('status', '../project')).toContain('-C DIR');
    expect(hintOf('undo', '1', '2')).not.toContain('-C DIR');
  });

  it('takes everything after -- as arguments', () => {
    expect(parse('fs', 'cat', '--', '-x', '--json').args).toEqual(['-x', '--json']);
  });

  it('passes everything after mcp on', () => {
    const { spec, args, options } = parse('-C', 'dir', 'mcp', '--read-only', 'install', '--json');
    expect([spec?.name, args, options.text('directory')]).toEqual(['mcp', ['--read-only', 'install', '--json'], 'dir']);
    expect(options.flag('json')).toBe(false);
  });

  it('suggests the command or option that was meant', () => {
    expect(messageOf('fs', 'grap', 'x')).toContain('Did you mean `scratchfs fs grep`?');
    expect(messageOf('fs', 'ls', '--stor', 'x')).toContain('Did you mean --store?');
    expect(messageOf('frobnicate')).toContain('`scratchfs help` lists the commands.');
    expect(messageOf('export', 'zip')).toMatch(/`scratchfs export zip`\. It is one of: (git|tar|snapshot)(, \w+){2}$/);
  });

  it.each([
    [['fs', 'cat'], 'PATH is missing. Usage: scratchfs fs cat [OPTIONS] PATH…'],
    [['fs', 'mv', 'a', 'b', 'c'], 'c is one argument too many.'],
    [['fs', 'ls', '--store'], '--store needs a value: --store URL.'],
    [['fs', 'ls', '-a'], '-a needs a value: -a NAME. --attempt NAME: Attempt to use. Default: the current one'],
    [['fs', 'ls', '--store', '--json'], 'If it is the value, write --store=--json.'],
    [['fs', 'ls', '--json=yes'], '--json takes no value.'],
    [['completion', 'bash', '--at', '3'], 'has no option --at.'],
  ])('refuses %j', (argv, message) => {
    expect(messageOf(...argv)).toContain(message);
  });
});
