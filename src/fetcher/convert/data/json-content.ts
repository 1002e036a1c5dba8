import type { Converted, DocumentMeta } from '../document.ts'
import type { LinkList } from './link-list.ts'

/** What `mode: metadata` gives. */
export function metadataContent(told: object, meta: DocumentMeta): Converted {
  return { content: JSON.stringify(told, null, 2), json: 'document', meta, warnings: [] }
}

/** What `mode: links` gives. */
export function linksContent({ links, complete }: LinkList, meta: DocumentMeta): Converted {
  return {
    content: JSON.stringify(links, null, 2),
    json: 'document',
    meta: complete ? meta : { ...meta, truncated: true },
    warnings: complete ? [] : ['The document has too many links; the rest was left out.'],
  }
}
