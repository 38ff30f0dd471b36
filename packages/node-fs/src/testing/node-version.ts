/**
 * True on the Node version that the object imitates. Later versions differ in some messages and are not compared there.
 */
export const isNode20 = process.versions.node.startsWith('20.');
