import { describe, expect, it } from 'vitest';
import { cutVisible, printable, Terminal, visibleLength } from './terminal.js';

function screen(isTTY: boolean, columns = 80) {
  const written: string[] = [];
  return { written, isTTY, columns, write: (text: string) => void written.push(text) };
}

describe('The terminal', () => {
  it('uses colours on a terminal, none in a pipe, and obeys NO_COLOR and FORCE_COLOR', () => {
    expect(new Terminal(screen(true)).hasColor).toBe(true);
    expect(new Terminal(screen(false)).hasColor).toBe(false);
    expect(new Terminal(screen(true), { NO_COLOR: '1' }).hasColor).toBe(false);
    expect(new Terminal(screen(true), { NO_COLOR: '' }).hasColor).toBe(true);
    expect(new Terminal(screen(false), { FORCE_COLOR: '1' }).hasColor).toBe(true);
    expect(new Terminal(screen(true), { TERM: 'dumb' }).hasColor).toBe(false);
  });

  it('shows progress on one line that the next output replaces, and only on a terminal', () => {
    const live = screen(true);
    const terminal = new Terminal(live, { NO_COLOR: '1' });
    terminal.progress(1, 2, 'half');
    terminal.progress(2, 2, 'all');
    terminal.line('done');
    expect(live.written.join('')).not.toMatch(/\n.*\n/);
    expect(live.written.at(-1)).toBe('done\n');
    expect(live.written.at(-2)).toBe('\r\x1b[2K');
    const piped = screen(false);
    new Terminal(piped).progress(2, 2, 'all');
    expect(piped.written).toEqual([]);
  });

  it('cuts by visible length, and leaves no colour open', () => {
    const red = '\x1b[31mabcdef\x1b[39m';
    expect(visibleLength(red)).toBe(6);
    expect(cutVisible(red, 4)).toBe('\x1b[31mabc…\x1b[39m');
    expect(cutVisible(`ab${red}`, 3)).toBe('ab\x1b[31m…\x1b[39m');
    expect(cutVisible(red, 6)).toBe(red);
  });

  it('puts the second text at the right edge, for any length of the first', () => {
    const wide = screen(true);
    const terminal = new Terminal(wide, { NO_COLOR: '1' });
    terminal.between('left', 'right');
    terminal.between('x'.repeat(200), 'right');
    expect(wide.written.map((line) => line.length)).toEqual([81, 81]);
    expect(wide.written[1]).toMatch(/^x+… {2}right\n$/);
  });

  it('sends no control characters of a name to the screen', () => {
    expect(printable('a\x1b]0;title\x07b\n\u202ec')).toBe('a\ufffd]0;title\ufffdb\ufffd\ufffdc');
  });

  it('breaks prose between words, and indents what follows the first line', () => {
    const narrow = screen(true, 60);
    const terminal = new Terminal(narrow, { FORCE_COLOR: '1' });
    const text = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');
    terminal.prose(`    ${terminal.green('✓')} `, text, terminal.dim);
    const lines = narrow.written.map((line) => line.trimEnd());
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(visibleLength(line)).toBeLessThanOrEqual(60);
    for (const line of lines.slice(1)) expect(line).toContain(`      ${terminal.dim('word').slice(0, 8)}`);
    expect(lines.map((line) => line.slice(line.indexOf('word'), -5)).join(' ')).toBe(text);
  });
});
