/** What may stand before the root of an XML document: its declaration, comments, instructions and a document type. */
const PROLOG = /^(?:\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>)/i
const ROOT = /^<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)(?=[\s/>])/
/** Parts of a prolog that are passed over. */
const PARTS_MAX = 100

/** The name, without prefix, of the element that XML begins with; undefined if the text does not begin like XML. */
export function rootName(start: string): string | undefined {
  let rest = start
  for (let count = 0; count < PARTS_MAX; count += 1) {
    const part = PROLOG.exec(rest)?.[0].length
    if (part === undefined) break
    rest = rest.slice(part)
  }
  return ROOT.exec(rest)?.[2]
}
