import { parseFragment } from 'parse5'

const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z][A-Za-z\d]{0,31}));/g
const REPLACEMENT = '\uFFFD'

const named = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])
/** Names remembered, beyond the five of XML. */
const NAMES_MAX = 4_096

/** Puts the characters for numeric entities and for those that HTML names. All others, and a bare `&`, stay. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(ENTITY, (entity, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named.get(name) ?? ofHtml(name, entity)
    return character(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal))
  })
}

function character(code: number): string {
  const isNone = code === 0 || code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff)
  return isNone ? REPLACEMENT : String.fromCodePoint(code)
}

function ofHtml(name: string, entity: string): string {
  const [node] = parseFragment(entity).childNodes
  const text = node && 'value' in node ? node.value : entity
  if (named.size < NAMES_MAX) named.set(name, text)
  return text
}
