import type { Announcement, NodeId } from '../backend.js';
import type { Node, TreeNode } from '../tree/node.js';

/** A change of one name, or a reset of the whole state, for open handles and watchers. */
export interface Change extends Announcement {
  /** For a `create` that adds a name to an existing file or symlink: its id, and one of its earlier names. */
  readonly link?: { readonly id: NodeId; readonly from: string };
  /** Time of a `remove`; an open file that loses its last name gets it as ctime, unless its ctime is later. */
  readonly time?: number;
  /** For `remove` and `rename`: the node under the name, for handles that follow the node. */
  readonly node?: TreeNode | undefined;
  /** For `remove`: by id, another name of an open file that has one. Used if `OpenFiles` remembers none itself. */
  readonly names?: ReadonlyMap<NodeId, string>;
  /** For `remove`: nodes that once had several names and have now lost the last one. */
  readonly orphans?: ReadonlyMap<NodeId, Node>;
}
