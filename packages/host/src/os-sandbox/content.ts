import { createHash } from 'node:crypto';

/** What a file holds, or where a link leads as a command reads it. */
export interface Content {
  readonly isLink: boolean;
  readonly hash: string;
}

export function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

/** A name for it that nothing else has. */
export function contentOf({ isLink, hash }: Content): string {
  return `${isLink ? 'link' : 'file'} ${hash}`;
}
