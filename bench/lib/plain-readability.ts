import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'

import type { DomElement } from '../../src/fetcher/convert/html/nodes.ts'
import { plainText } from '../../src/fetcher/convert/html/plain-text.ts'

/** The text that Readability on linkedom gives without any other work: what most programs of this kind use. */
export function plainReadability(html: string): string {
  try {
    const { document } = parseHTML(html) as unknown as { document: object }
    const content = new Readability(document).parse()?.content ?? ''
    const { document: parsed } = parseHTML(`<!doctype html><html><body>${content}</body></html>`) as unknown as {
      document: { readonly body: DomElement }
    }
    return plainText(parsed.body)
  } catch {
    return ''
  }
}
