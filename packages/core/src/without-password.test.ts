import { expect, it } from 'vitest';
import { withoutPassword } from './without-password.js';

it.each([
  ['redis://user:secret@host:1/0', 'redis://user:***@host:1/0'],
  ['redis://:secret@host', 'redis://:***@host'],
  ['redis://user:se@secret@host:1/0', 'redis://user:***@host:1/0'],
  ['redis://us@er:se@secret@host:1/0', 'redis://us@er:***@host:1/0'],
  ['redis://user:se/secret@host:1/0', 'redis://user:***@host:1/0'],
  ['redis://user:se?secret#secret@host:1/0', 'redis://user:***@host:1/0'],
  ['redis://user:123@host', 'redis://user:***@host'],
  ['redis://host:6379/0?namespace=a@b', 'redis://host:6379/0?namespace=a@b'],
  ['redis://user@host:6379?namespace=a@b', 'redis://user@host:6379?namespace=a@b'],
  ['s3://bucket/a:b@c', 's3://bucket/a:b@c'],
])('withoutPassword() shows %s as %s', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});
