/** Version of this package. `test/structure` compares it with package.json. */
export const VERSION = '0.1.0';
