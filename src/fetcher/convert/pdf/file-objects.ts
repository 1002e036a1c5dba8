import { constants, inflateSync } from 'node:zlib'

import { UNPACKED_BYTES_MAX } from './bombs.ts'

/** Objects that are looked for, at most. */
const OBJECTS_MAX = 200_000
/** Characters of a dictionary that are looked at. */
const DICTIONARY_LENGTH_MAX = 4_096

/** An object of a file as Latin-1 text. */
interface FileObject {
  readonly generation: number
  readonly text: string
}

/** The objects of a file by their numbers. */
export type FileObjects = Map<number, FileObject>

/**
 * Finds the objects of a file without its table of objects: by their heads, and in the packed groups among them. The
 * last of a number is the valid one. Encrypted groups stay closed.
 */
export function fileObjects(text: string): FileObjects {
  const objects = plainObjects(text)
  for (const object of Array.from(objects.values())) unpackGroup(object.text, objects)
  return objects
}

function plainObjects(text: string): FileObjects {
  const objects: FileObjects = new Map()
  const heads = /(?<!\d)(\d{1,7})\s{1,9}(\d{1,5})\s{1,9}obj\b/g
  for (let head = heads.exec(text); head !== null && objects.size < OBJECTS_MAX; head = heads.exec(text)) {
    const start = heads.lastIndex
    const end = endOf(text, start)
    objects.set(Number(head[1]), { generation: Number(head[2]), text: text.slice(start, end) })
    heads.lastIndex = end
  }
  return objects
}

/** Where the object that begins at `start` ends: what looks like an end inside of its stream is none. */
function endOf(text: string, start: number): number {
  const end = indexOrEnd(text, 'endobj', start)
  const streamAt = text.slice(start, end).search(/(?<!end)stream\r?\n/)
  if (streamAt === -1) return end
  return indexOrEnd(text, 'endobj', indexOrEnd(text, 'endstream', start + streamAt))
}

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from)
  return index === -1 ? text.length : index
}

/** Adds the objects that a stream of type `ObjStm` holds. */
function unpackGroup(object: string, objects: FileObjects): void {
  const dictionary = dictionaryOf(object)
  if (!/\/Type\s*\/ObjStm\b/.test(dictionary)) return
  const [count, first] = [/\/N\s+(\d+)/, /\/First\s+(\d+)/].map((entry) => Number(entry.exec(dictionary)?.[1]))
  const data = streamOf(object)
  if (data === undefined || count === undefined || first === undefined) return
  const numbers = data.slice(0, first).trim().split(/\s+/).map(Number)
  for (let index = 0; index < Math.min(count, numbers.length / 2, OBJECTS_MAX); index += 1) {
    const [number = Number.NaN, from = Number.NaN, , to = data.length - first] = numbers.slice(index * 2, index * 2 + 4)
    if (!Number.isInteger(number) || objects.has(number)) continue
    objects.set(number, { generation: 0, text: data.slice(first + from, first + to) })
  }
}

/** The stream of an object, unpacked, as Latin-1 text. Undefined if there is none, or it is not to be had. */
export function streamOf(object: string): string | undefined {
  const start = /(?<!end)stream\r?\n/.exec(object)
  if (!start) return undefined
  const data = Buffer.from(object.slice(start.index + start[0].length), 'latin1')
  if (!/\/Filter/.test(dictionaryOf(object))) return data.toString('latin1')
  try {
    const options = { maxOutputLength: UNPACKED_BYTES_MAX, finishFlush: constants.Z_SYNC_FLUSH }
    return inflateSync(data, options).toString('latin1')
  } catch {
    return undefined
  }
}

/** The part of an object before its stream. */
export const dictionaryOf = (object: string): string =>
  object.slice(0, DICTIONARY_LENGTH_MAX).split(/(?<!end)stream\r?\n/)[0] ?? ''
