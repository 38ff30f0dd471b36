import { expect, it } from 'vitest';
import { causeOf } from './failure.js';

it.each(['u:hunter2@h', 'u:hun@hunter2@h', 'u:hun/hunter2@h'])(
  'causeOf() shows no password of https://%s',
  (address) => {
    expect(causeOf(new Error(`Cannot reach https://${address}/bucket`)).message).not.toContain('hunter2');
    expect(causeOf(new Error('Cannot reach https://h/bucket')).message).toContain('https://h/bucket');
  },
);
