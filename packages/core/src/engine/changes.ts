import type { Announcement, NodeId } from '../backend.js';
import type { Node, TreeNode } from '../tree/node.js';

/** One thing that happened to a name, for open handles and watchers. */
export interface Change extends Announcement {
  /** Of `create`, where it is one more name: of which file, and a name it had before. */
  readonly link?: { readonly id: NodeId; readonly from: string };
  /** Of `remove`: when; an open file that loses its last name gets it as ctime. */
  readonly time?: number;
  /** Of `remove` and `rename`: what was under the name, for handles that follow it. */
  readonly node?: TreeNode | undefined;
  /** Of `remove`: where open files that go on have another name, as far as the feed did not know one. */
  readonly names?: ReadonlyMap<NodeId, string>;
  /** Of `remove`: files with several names that lost their last one. */
  readonly orphans?: ReadonlyMap<NodeId, Node>;
}
