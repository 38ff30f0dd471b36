/** The Node whose words and ways the object has. Later ones say some things otherwise, and are then not compared. */
export const isNode20 = process.versions.node.startsWith('20.');
