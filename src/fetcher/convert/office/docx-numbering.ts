import type { ListPlace } from './document-writer.ts'
import { onOpen, readPart } from './opc.ts'
import type { ZipArchive } from './zip.ts'

interface Level {
  ordered: boolean
  start: number
}

/** Gives the place of the next item in a list; undefined if there is no such list. */
export type DocxNumbering = (numberId: string, level: number) => ListPlace | undefined

const LISTS_MAX = 50_000
const LEVELS_MAX = 9
/** Formats of numbers that show none. */
const UNORDERED = new Set(['bullet', 'none'])

/** Reads the lists of a Word document. The items must be asked for in their order, since lists go on after breaks. */
export function readNumbering(archive: ZipArchive, part: string): DocxNumbering {
  const { levels, lists } = readLists(archive, part)
  const counts = new Map<string, number[]>()
  return (numberId, level) => {
    const abstractId = lists.get(numberId)
    if (abstractId === undefined) return undefined
    const depth = Math.max(0, Math.min(LEVELS_MAX - 1, level))
    const { ordered, start } = levels.get(`${abstractId} ${depth}`) ?? { ordered: false, start: 1 }
    const numbers = counts.get(numberId) ?? []
    counts.set(numberId, numbers)
    const number = (numbers[depth] ?? start - 1) + 1
    numbers.length = depth
    numbers[depth] = number
    return { level: depth, ordered, number }
  }
}

function readLists(archive: ZipArchive, part: string) {
  /** By abstract id and depth. */
  const levels = new Map<string, Level>()
  /** The abstract id of each list. */
  const lists = new Map<string, string>()
  let abstractId = ''
  let numberId: string | undefined
  let level: Level | undefined
  const reader = onOpen((name, attributes) => {
    const value = attributes.get('val') ?? ''
    if (name === 'abstractNum') {
      abstractId = attributes.get('abstractNumId') ?? ''
      numberId = undefined
    } else if (name === 'num') numberId = attributes.get('numId')
    else if (name === 'abstractNumId' && numberId !== undefined && lists.size < LISTS_MAX) lists.set(numberId, value)
    else if (name === 'lvl' && numberId === undefined && levels.size < LISTS_MAX) {
      level = { ordered: false, start: 1 }
      levels.set(`${abstractId} ${Number(attributes.get('ilvl'))}`, level)
    } else if (name === 'numFmt' && level && numberId === undefined) level.ordered = !UNORDERED.has(value)
    else if (name === 'start' && level && numberId === undefined) level.start = Number(value) || 1
  })
  readPart(archive, part, reader)
  return { levels, lists }
}
