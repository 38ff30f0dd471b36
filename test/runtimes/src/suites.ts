import type { SuiteRunner } from './runner.js';

/** The suites every runtime runs, on the built packages. */
export function defineSuites({ describe, it, expect }: SuiteRunner): void {
  describe('smoke', () => {
    it('has what core stands on', () => {
      expect(typeof structuredClone).toBe('function');
      expect(new TextDecoder().decode(new TextEncoder().encode('ä𝄞'))).toBe('ä𝄞');
    });
    it('has web streams', async () => {
      const reader = new Blob(['abc']).stream().getReader();
      const { value } = await reader.read();
      expect(value?.length).toBe(3);
    });
  });
}
