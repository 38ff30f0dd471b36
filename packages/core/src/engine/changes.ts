import type { Announcement, NodeId } from '../backend.js';
import type { Node, TreeNode } from '../tree/node.js';

/** An event of one name, for open handles and watchers. */
export interface Change extends Announcement {
  /** For a `create` that adds a name: the file, and an earlier name of it. */
  readonly link?: { readonly id: NodeId; readonly from: string };
  /** Time of a `remove`; an open file that loses its last name gets it as ctime. */
  readonly time?: number;
  /** For `remove` and `rename`: the node under the name, for handles that follow it. */
  readonly node?: TreeNode | undefined;
  /** For `remove`: other names of open files that continue, unless the feed knew one. */
  readonly names?: ReadonlyMap<NodeId, string>;
  /** For `remove`: files with several names that lost their last one. */
  readonly orphans?: ReadonlyMap<NodeId, Node>;
}
