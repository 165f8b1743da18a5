import { type AnyNode, type Element, hasChildren, isTag, type ParentNode } from "domhandler";

/** Every element inside `root`, in document order, without recursion. */
export function* elementsIn(root: ParentNode): Generator<Element> {
  let node: AnyNode | undefined = root.children[0];
  while (node !== undefined) {
    if (isTag(node)) yield node;
    node = followingNode(node, root);
  }
}

function followingNode(from: AnyNode, root: ParentNode): AnyNode | undefined {
  if (hasChildren(from) && from.children[0] !== undefined) return from.children[0];
  for (let node: AnyNode | null = from; node !== null && node !== root; node = node.parent) {
    if (node.next !== null) return node.next;
  }
  return undefined;
}
