import { type DefaultTreeAdapterMap, defaultTreeAdapter } from 'parse5'

type TreeNode = DefaultTreeAdapterMap['childNode']
type TreeParent = DefaultTreeAdapterMap['parentNode']
type TreeElement = DefaultTreeAdapterMap['element']

/** Levels at the bottom of a tree that is too deep which stay whole: a paragraph, a table or a list with all that is in it. */
const LEVELS_WHOLE = 64

/** The levels that an element takes, its own among them. Text takes none, nor does a copy, which always fits. */
type Heights = ReadonlyMap<TreeNode, number>

/**
 * Takes levels out of a tree until it has no more than `depthMax`, and keeps all of its text in order. In linear time.
 *
 * Below the last level, an element that is too high is split around its children that are: what stands between them
 * stays in copies of it, and everything becomes a sibling. So no text of two elements runs together.
 *
 * @param depthMax more than 64.
 * @returns whether the tree was too deep. Parents are not kept up to date in such a tree.
 */
export function flatten(tree: TreeParent, depthMax: number): boolean {
  const heights = heightsOf(tree)
  if (tallest(tree, heights) <= depthMax) return false
  let level: readonly TreeParent[] = [tree]
  for (let depth = 1; depth <= depthMax - LEVELS_WHOLE; depth += 1) {
    level = level.flatMap(({ childNodes }) => childNodes.filter(defaultTreeAdapter.isElementNode))
  }
  for (const parent of level) parent.childNodes = sideBySide(parent.childNodes, heights)
  return true
}

function heightsOf(tree: TreeParent): Heights {
  const elements: TreeElement[] = []
  const collect = ({ childNodes }: TreeParent) => {
    for (const node of childNodes) if (defaultTreeAdapter.isElementNode(node)) elements.push(node)
  }
  collect(tree)
  for (const element of elements) collect(element)
  const heights = new Map<TreeNode, number>()
  for (const element of elements.toReversed()) {
    heights.set(element, 1 + tallest(element, heights))
  }
  return heights
}

function tallest({ childNodes }: TreeParent, heights: Heights): number {
  let height = 0
  for (const node of childNodes) height = Math.max(height, heights.get(node) ?? 0)
  return height
}

/** The nodes, with parts in place of those that are too high. */
function sideBySide(nodes: readonly TreeNode[], heights: Heights): TreeNode[] {
  const placed: TreeNode[] = []
  const rest = nodes.toReversed()
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    const isHigh = (heights.get(node) ?? 0) > LEVELS_WHOLE
    if (!isHigh || !defaultTreeAdapter.isElementNode(node)) placed.push(node)
    else for (const part of partsOf(node, heights).toReversed()) rest.push(part)
  }
  return placed
}

/** Copies of an element with the children that fit into one, and between them those that do not. */
function partsOf(element: TreeElement, heights: Heights): TreeNode[] {
  const parts: TreeNode[] = []
  let run: TreeNode[] = []
  const endRun = () => {
    if (run.some(isShown)) parts.push({ ...element, childNodes: run })
    else parts.push(...run)
    run = []
  }
  for (const node of element.childNodes) {
    if ((heights.get(node) ?? 0) < LEVELS_WHOLE) run.push(node)
    else {
      endRun()
      parts.push(node)
    }
  }
  endRun()
  return parts
}

const isShown = (node: TreeNode): boolean => !defaultTreeAdapter.isTextNode(node) || /\S/.test(node.value)
