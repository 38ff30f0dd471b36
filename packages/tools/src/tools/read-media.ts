import { InputError } from '../input.js';
import { signatureOf } from '../text-file.js';
import { type Definition, inWordsOf, path, quote } from './define.js';

/** Largest image that is returned, in bytes: some 5 MB in base64, a common limit of model APIs. */
const MAX_MEDIA_BYTES = 3_750_000;

export const readMedia: Definition<'read_media'> = {
  name: 'read_media',
  rule: 'sandbox.read',
  description: 'Shows you an image in PNG, JPEG, GIF or WebP.',
  properties: { path: path('The image to show.') },
  required: ['path'],
  async run(authorizer, { path: file }: { readonly path: string }, call) {
    await authorizer.permit(
      {
        tool: 'read_media',
        rule: 'sandbox.read',
        uses: [{ path: file, access: 'read' }],
        summary: `Read ${quote(file)}`,
      },
      call,
    );
    const { sandbox } = authorizer;
    const read = async (): Promise<Uint8Array> => {
      const place = sandbox.locate(file);
      const { size, kind } = await sandbox.fileSystem.stat(place, call);
      if (kind === 'file') checkSize(file, size);
      return sandbox.fileSystem.readFile(place, call);
    };
    const bytes = await inWordsOf(authorizer, read, file);
    // The file may have grown since its size was checked.
    checkSize(file, bytes.length);
    const known = signatureOf(bytes);
    const mediaType = known?.mediaType;
    if (known === undefined || mediaType === undefined) {
      const what = known === undefined ? '' : `: it is ${known.kind}`;
      const advice = authorizer.offered.has('read_file') ? ' Use read_file for text.' : '';
      throw new InputError(`${quote(file)} is no image in PNG, JPEG, GIF or WebP${what}.${advice}`);
    }
    return {
      text: `${quote(file)} is ${known.kind} of ${bytes.length} bytes.`,
      structured: { path: file, mediaType, size: bytes.length },
      links: [file],
      media: [{ type: mediaType, data: base64(bytes) }],
    };
  },
};

function checkSize(file: string, size: number): void {
  if (size <= MAX_MEDIA_BYTES) return;
  throw new InputError(`${quote(file)} has ${size} bytes, and an image may have ${MAX_MEDIA_BYTES} at most.`);
}

/** Bytes encoded at a time. A multiple of 3, so that the pieces can be joined. */
const PIECE_BYTES = 24_576;

function base64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES))));
  return pieces.join('');
}
