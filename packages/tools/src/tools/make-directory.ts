import { type Definition, inWordsOf, path, quote } from './define.js';

export const makeDirectory: Definition<'make_directory'> = {
  name: 'make_directory',
  rule: 'sandbox.write',
  description: 'Creates a directory, with those that lead to it. It may exist already.',
  properties: { path: path('The directory.') },
  required: ['path'],
  async run(authorizer, { path: given }: { readonly path: string }, call) {
    await authorizer.permit(
      {
        tool: 'make_directory',
        rule: 'sandbox.write',
        uses: [{ path: given, access: 'write' }],
        summary: `Create the directory ${quote(given)}`,
      },
      call,
    );
    const { sandbox } = authorizer;
    const make = (): Promise<string | undefined> =>
      sandbox.fileSystem.mkdir(sandbox.locate(given), { recursive: true, ...call });
    const created = (await inWordsOf(authorizer, make, given)) !== undefined;
    const text = created ? `Created the directory ${quote(given)}.` : `The directory ${quote(given)} exists already.`;
    return { text, structured: { path: given, created }, links: [given] };
  },
};
