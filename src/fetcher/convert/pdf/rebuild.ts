import { dictionaryOf, type FileObjects, fileObjects } from './file-objects.ts'

/**
 * Writes a file anew from the objects in it, for one whose table of objects or list of pages is lost or wrong: first with
 * the catalog that it has, then with one of all the pages there are, in the order of the file. Gives nothing if there
 * are no pages, or the file is encrypted.
 */
export function* rebuilds(file: Buffer): Generator<Buffer> {
  const text = file.toString('latin1')
  if (/\/Encrypt\b/.test(text)) return
  const objects = fileObjects(text)
  const info = /\/Info\s+\d+\s+\d+\s+R/.exec(text)?.[0]
  for (const root of [catalogOf(objects), makeCatalog(objects)]) {
    if (root !== undefined) yield write(objects, root, info)
  }
}

/** The last catalog whose tree of pages is there and is no circle at its top. */
function catalogOf(objects: FileObjects): number | undefined {
  for (const [number, { text }] of [...objects].toReversed()) {
    const dictionary = dictionaryOf(text)
    if (!/\/Type\s*\/Catalog\b/.test(dictionary)) continue
    const tree = Number(/\/Pages\s+(\d+)\s/.exec(dictionary)?.[1])
    const pages = dictionaryOf(objects.get(tree)?.text ?? '')
    if (/\/Type\s*\/Pages\b/.test(pages) && !new RegExp(`[\\s[]${tree}\\s+\\d+\\s+R`).test(pages)) return number
  }
  return undefined
}

/** Adds a catalog of all pages in the order of the file. What they inherit from their old tree, they keep. */
function makeCatalog(objects: FileObjects): number | undefined {
  const pages = [...objects].filter(([, { text }]) => /\/Type\s*\/Page\b/.test(dictionaryOf(text)))
  if (pages.length === 0) return undefined
  const tree = Array.from(objects.keys()).reduce((most, number) => Math.max(most, number), 0) + 1
  const kids = pages.map(([number, { generation }]) => `${number} ${generation} R`).join(' ')
  objects.set(tree, { generation: 0, text: `<</Type/Pages/Count ${pages.length}/Kids[${kids}]>>` })
  objects.set(tree + 1, { generation: 0, text: `<</Type/Catalog/Pages ${tree} 0 R>>` })
  return tree + 1
}

function write(objects: FileObjects, root: number, info: string | undefined): Buffer {
  const parts = ['%PDF-1.7\n']
  const rows = ['0 1\n0000000000 65535 f \n']
  let length = '%PDF-1.7\n'.length
  for (const [number, { generation, text }] of objects) {
    const part = `${number} ${generation} obj\n${text.trim()}\nendobj\n`
    rows.push(`${number} 1\n${String(length).padStart(10, '0')} ${String(generation).padStart(5, '0')} n \n`)
    parts.push(part)
    length += part.length
  }
  const rootReference = `${root} ${objects.get(root)?.generation} R`
  const trailer = `trailer\n<</Size ${objects.size + 1}/Root ${rootReference}${info ?? ''}>>`
  return Buffer.from(`${parts.join('')}xref\n${rows.join('')}${trailer}\nstartxref\n${length}\n%%EOF\n`, 'latin1')
}
