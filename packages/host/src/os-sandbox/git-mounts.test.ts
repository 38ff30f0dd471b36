import { expect, it } from 'vitest';
import { withoutCredentials } from './git-mounts.js';

it('withoutCredentials() removes passwords in URLs and settings with credentials, and nothing else', () => {
  const config = [
    '[remote "origin"]',
    '\turl = https://user:secret@example.com/x.git',
    '\turl = https://secret@example.com/x.git',
    '\turl = git@example.com:x.git',
    '[http "https://example.com"]',
    '\textraHeader = AUTHORIZATION: basic secret',
    '\tproxy = http://user:secret@proxy',
    '[user]',
    '\temail = a@example.com',
  ];
  const shown = withoutCredentials(config.join('\n'));
  expect(shown).not.toContain('secret');
  expect(shown.split('\n')).toEqual([
    '[remote "origin"]',
    '\turl = https://example.com/x.git',
    '\turl = https://example.com/x.git',
    '\turl = git@example.com:x.git',
    '[http "https://example.com"]',
    '',
    '',
    '[user]',
    '\temail = a@example.com',
  ]);
});
