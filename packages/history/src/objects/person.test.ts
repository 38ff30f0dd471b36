import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { encodeSignature } from './person.js';

it.each([
  ['Ada Lovelace', 'ada@x'],
  [' ..Ada "x" J., ', '<ada@x>'],
  ['A<d>a\nB', ''],
  ['Grüße 林', 'x'],
  ['', 'ada@x'],
  ['...', 'ada@x'],
  ['<>', 'ada@x'],
  [' \u0001;\\', 'ada@x'],
])('writes or refuses the name %j with the email %j as git does', (name, email) => {
  const env = {
    PATH: process.env['PATH'],
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: '@1700000000 +0200',
  };
  const { status, stdout } = spawnSync('git', ['var', 'GIT_AUTHOR_IDENT'], { env, encoding: 'utf8' });
  const write = (): string => encodeSignature({ name, email, timestamp: 1_700_000_000, timezone: 120 });
  if (status === 0) expect(write()).toBe(stdout.slice(0, -1));
  else expect(write).toThrow(TypeError);
});

it('refuses exactly the names of which git leaves nothing', () => {
  const write = (name: string): string => encodeSignature({ name, email: 'x', timestamp: 0, timezone: 0 });
  for (const name of ['', ' ', '...', '<>', '"\\\'']) expect(() => write(name)).toThrow(TypeError);
  expect(write('.a')).toBe('a <x> 0 +0000');
});
