import { describe, expect, it } from 'vitest';
import { parseUrl } from './url.js';

describe('parseUrl()', () => {
  it('separates the server address from the options', () => {
    expect(parseUrl('rediss://u:p@host:1/2?namespace=a%20b&ttlMs=5000')).toEqual({
      server: 'rediss://u:p@host:1/2',
      options: { namespace: 'a b', ttlMs: 5000 },
    });
  });

  it('rejects any other URL without repeating it in the message', () => {
    for (const url of [
      'redis://:secret@host/x',
      'http://secret@host',
      'secret',
      'redis://secret@host/0?nmespace=a',
      'redis://secret@host/0?ttlMs=1e3',
      'redis://user:123?secret@host/0',
      'redis://user:123?namespace=a&secret=1@host/0',
      'redis://secret@host/0?namespace=a&namespace=b',
    ]) {
      let message = '';
      try {
        parseUrl(url);
      } catch (error) {
        message = (error as TypeError).message;
      }
      expect(message, url).not.toBe('');
      expect(message).not.toContain('secret');
    }
  });

  it('takes a parameter with the name of an inherited property for an unknown one', () => {
    for (const name of ['toString', 'constructor', '__proto__'])
      expect(() => parseUrl(`redis://host/0?${name}=1`), name).toThrow('an unknown parameter');
  });
});
