import { onOpen, readPart } from './opc.ts'
import type { ZipArchive } from './zip.ts'

/** What a style says of the paragraphs and runs that have it, or a style based on it. */
interface DocxStyle {
  readonly heading?: number | undefined
  readonly isCode?: boolean | undefined
  readonly numberId?: string | undefined
  readonly level?: number | undefined
  readonly bold?: boolean | undefined
  readonly italic?: boolean | undefined
}

export type DocxStyles = (id: string | undefined) => DocxStyle

type StyleDraft = { -readonly [K in keyof DocxStyle]: DocxStyle[K] } & { basedOn?: string | undefined }

/** Styles that one may be based on, one after the other. */
const ANCESTORS_MAX = 20
const STYLES_MAX = 20_000
const HEADING_NAME = /^heading ([1-9])$/i
const CODE_NAME = /^(?:html preformatted|source code|preformatted text|code(?: block)?|macro text)$/i
/** Only those say something of text; table and list styles have properties of the same names. */
const TYPES = new Set(['paragraph', 'character'])
/** Outline levels are 0 to 8; 9 is body text. */
const BODY_LEVEL = 9

const NONE: DocxStyle = {}

/** Reads the styles of a Word document. */
export function readStyles(archive: ZipArchive, part: string): DocxStyles {
  const drafts = new Map<string, StyleDraft>()
  let style: StyleDraft = {}
  const reader = onOpen((name, attributes) => {
    const value = attributes.get('val')
    if (name === 'style') {
      style = {}
      if (TYPES.has(attributes.get('type') ?? '') && drafts.size < STYLES_MAX) {
        drafts.set(attributes.get('styleId') ?? '', style)
      }
    } else if (name === 'name') {
      const heading = HEADING_NAME.exec(value ?? '')?.[1] ?? (/^title$/i.test(value ?? '') ? '1' : undefined)
      if (heading !== undefined) style.heading = Number(heading)
      style.isCode = CODE_NAME.test(value ?? '') ? true : undefined
    } else if (name === 'basedOn') style.basedOn = value
    else if (name === 'outlineLvl') style.heading ??= headingOf(value)
    else if (name === 'numId') style.numberId = value
    else if (name === 'ilvl') style.level = Number(value)
    else if (name === 'b') style.bold = isOn(value)
    else if (name === 'i') style.italic = isOn(value)
  })
  readPart(archive, part, reader)
  const resolved = new Map<string, DocxStyle>()
  return (id) => {
    if (id === undefined) return NONE
    const known = resolved.get(id) ?? resolve(drafts, id)
    resolved.set(id, known)
    return known
  }
}

/** A style with what it takes from those that it is based on. */
function resolve(drafts: ReadonlyMap<string, StyleDraft>, id: string): DocxStyle {
  let merged: StyleDraft = {}
  let at = drafts.get(id)
  for (let count = 0; at !== undefined && count < ANCESTORS_MAX; count += 1) {
    merged = { ...at, ...present(merged) }
    at = at.basedOn === undefined ? undefined : drafts.get(at.basedOn)
  }
  return merged
}

const present = (style: StyleDraft): StyleDraft =>
  Object.fromEntries(Object.entries(style).filter(([, value]) => value !== undefined))

/** The level of a heading, from 1; undefined for body text. */
export function headingOf(outlineLevel: string | undefined): number | undefined {
  const level = Number(outlineLevel)
  return Number.isInteger(level) && level >= 0 && level < BODY_LEVEL ? level + 1 : undefined
}

/** Whether a property is on: it is unless it says otherwise. */
export const isOn = (value: string | undefined): boolean => !/^(?:0|false|off|none)$/.test(value ?? '')
