import { type DomElement, type DomNode, isElement, isText } from './nodes.ts'

const BLOCKS = new Set(
  `address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table
  tbody tfoot thead tr ul caption`.split(/\s+/),
)
const CELLS = new Set(['td', 'th'])
/** What never reads as text. */
const SILENT = new Set(
  `script style noscript template head title meta link svg canvas iframe object embed audio video map datalist`.split(
    /\s+/,
  ),
)

/**
 * The text a reader would see under `root`: a line per block, cells apart by a blank, `pre` as it is.
 * Iterative, so that no depth of nesting overflows the stack.
 */
export function plainText(root: DomElement): string {
  const blocks: string[] = []
  let flow = ''
  const flush = () => {
    if (flow !== '') blocks.push(tidy(flow))
    flow = ''
  }
  type Step = DomNode | string
  const stack: Step[] = [root]
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    if (typeof step === 'string') flow += step
    else if (isText(step)) flow += step.data.replaceAll('\n', ' ')
    else if (isElement(step)) {
      const name = step.localName
      if (SILENT.has(name) && step !== root) continue
      if (name === 'br') flow += '\n'
      else if (name === 'pre') {
        flush()
        blocks.push(`\n${(step.textContent ?? '').replaceAll(/^\n+|\s+$/g, '')}\n`)
      } else {
        const edge = BLOCKS.has(name) ? '\n' : CELLS.has(name) ? ' ' : ''
        flow += edge
        if (edge !== '') stack.push(edge)
        for (let child = step.lastChild; child !== null; child = child.previousSibling) stack.push(child)
      }
    }
  }
  flush()
  return blocks
    .join('')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

function tidy(flow: string): string {
  return flow
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
}
