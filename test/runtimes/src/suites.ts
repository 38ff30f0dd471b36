import type { TestRunner } from '@scratchfs/testkit';

/** The suites every runtime runs, on the built packages. */
export function defineSuites({ describe, it }: TestRunner): void {
  describe('the runtime', () => {
    it('has what core stands on', async () => {
      const text = new TextDecoder().decode(new TextEncoder().encode('ä𝄞'));
      if (text !== 'ä𝄞') throw new Error(`UTF-8 made ${text} of ä𝄞`);
      if (typeof structuredClone !== 'function') throw new Error('structuredClone is missing');
    });

    it('has web streams', async () => {
      const { value } = await new Blob(['abc']).stream().getReader().read();
      if (value?.length !== 3) throw new Error('a Blob of three bytes does not stream');
    });
  });
}
