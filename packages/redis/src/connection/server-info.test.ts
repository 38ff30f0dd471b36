import { describe, expect, it } from 'vitest';
import { describeLoss, parseInfo } from './server-info.js';

describe('server info', () => {
  it('describeLoss() follows the settings, and is unknown if the server hides them', () => {
    expect(describeLoss(true, 'always', '')).toBe('nothing that was acknowledged');
    expect(describeLoss(false, undefined, '')).toMatch(/^everything: /);
    expect(describeLoss(false, undefined, '60 1')).toMatch(/snapshot/);
    expect(describeLoss(undefined, undefined, undefined)).toMatch(/^unknown/);
  });

  it('parseInfo() splits lines at the first colon', () => {
    expect(parseInfo('# Server\r\nredis_version:7.0.15\r\n\r\na:b:c\r\n')).toEqual(
      new Map([
        ['redis_version', '7.0.15'],
        ['a', 'b:c'],
      ]),
    );
  });
});
