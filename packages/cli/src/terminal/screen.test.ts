import { afterEach, expect, it, vi } from 'vitest';
import { type Screen, showScreen } from './screen.js';

const { stdin, stdout } = process;
const setRawMode = stdin.setRawMode;
afterEach(() => {
  vi.restoreAllMocks();
  stdin.setRawMode = setRawMode;
});

const blank: Screen<string> = { lines: () => [], key: () => undefined };

it.each<[string, (fail: (error: unknown) => void) => Screen<string>]>([
  [
    'cannot be created',
    () => {
      throw new Error('no screen');
    },
  ],
  [
    'cannot be drawn',
    () => ({
      ...blank,
      lines: () => {
        throw new Error('no screen');
      },
    }),
  ],
  [
    'reports an error',
    (fail) => {
      fail(new Error('no screen'));
      return blank;
    },
  ],
])('showScreen() restores the terminal if the screen %s', async (_, make) => {
  const modes: boolean[] = [];
  stdin.setRawMode = (mode) => {
    modes.push(mode);
    return stdin;
  };
  vi.spyOn(stdin, 'resume').mockReturnValue(stdin);
  let written = '';
  vi.spyOn(stdout, 'write').mockImplementation((text) => {
    written += text;
    return true;
  });
  const listeners = (): number =>
    stdin.listenerCount('data') + stdout.listenerCount('resize') + process.listenerCount('exit');
  const before = listeners();
  const shown = showScreen((_redraw, fail) => make(fail), new AbortController().signal);
  await expect(shown).rejects.toThrow('no screen');
  expect([modes, listeners()]).toEqual([[true, false], before]);
  expect(written.endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
});
