import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5'

import { oneLine } from '../one-line.ts'
import { VALUE_LENGTH_MAX } from './feed.ts'

/** The text of a value that may be HTML, on one line; undefined if it is blank. */
export function textOfValue(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const short = value.slice(0, VALUE_LENGTH_MAX)
  const text = /[<&]/.test(short) ? textOf(short) : short
  return oneLine(text) || undefined
}

function textOf(html: string): string {
  let text = ''
  const stack: DefaultTreeAdapterTypes.Node[] = parseFragment(html).childNodes.toReversed()
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ('value' in node) text += node.value
    else if ('childNodes' in node) stack.push(...node.childNodes.toReversed())
  }
  return text
}
