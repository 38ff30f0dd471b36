import { describe, expect, it } from 'vitest';
import { parseServiceUrl } from './url.js';

const parse = (url: string) => parseServiceUrl(url, 's3', 'an S3Storage', 's3://bucket/prefix');

describe('A URL', () => {
  it('gives host, path, endpoint and region', () => {
    expect(parse('s3://Bucket.name/some%20agents/one?endpoint=http%3A%2F%2Flocalhost%3A9000&region=eu')).toEqual({
      host: 'Bucket.name',
      path: 'some agents/one',
      endpoint: 'http://localhost:9000',
      region: 'eu',
    });
    expect(parse('s3://bucket')).toEqual({ host: 'bucket', path: '', endpoint: undefined, region: undefined });
  });

  it.each([
    '',
    'http://bucket',
    's3:///prefix',
    's3://key:secret@bucket',
    's3://bucket?region=a&region=b',
    's3://bucket?accessKey=secret',
    's3://bucket?region=a&secret=',
    's3://bucket?endpoint=ftp://host',
    's3://bucket?endpoint=ftp://key:secret@host',
    's3://bucket?endpoint=https://key:secret@host',
    's3://bucket?endpoint=https://secret@host',
    's3://bucket/%zz-secret',
    's3://bucket/%ff-secret',
  ])('like %j is refused, and not quoted', (url) => {
    expect(() => parse(url)).toThrow(TypeError);
    expect(() => parse(url)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }));
  });
});
