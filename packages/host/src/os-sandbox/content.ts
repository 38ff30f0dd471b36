import { createHash } from 'node:crypto';

/** Content of a file or target of a link, as a command reads it. */
export interface Content {
  readonly isLink: boolean;
  /** SHA-256 of the content or target. */
  readonly hash: string;
}

export function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Returns a key that identifies a content. */
export function contentOf({ isLink, hash }: Content): string {
  return `${isLink ? 'link' : 'file'} ${hash}`;
}
