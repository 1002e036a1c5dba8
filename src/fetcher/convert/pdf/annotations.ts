import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'

import { oneLine } from '../one-line.ts'

/** Annotations that are read of one page. */
const ANNOTATIONS_MAX = 2_000
const LABEL_LENGTH_MAX = 200
const VALUE_LENGTH_MAX = 10_000

/** What is used of an annotation. The document makes it, so each member is looked at before use. */
interface Annotation {
  readonly subtype?: unknown
  readonly fieldType?: unknown
  readonly fieldName?: unknown
  readonly alternativeText?: unknown
  readonly fieldValue?: unknown
  readonly options?: unknown
  readonly checkBox?: unknown
  readonly radioButton?: unknown
  readonly buttonValue?: unknown
  readonly exportValue?: unknown
  readonly password?: unknown
  readonly hidden?: unknown
  readonly url?: unknown
  readonly rect?: unknown
}

async function annotationsOf(page: PDFPageProxy): Promise<Annotation[]> {
  const annotations: Annotation[] = await page.getAnnotations()
  return annotations.slice(0, ANNOTATIONS_MAX)
}

/** A filled-in field of a form. */
export interface FormField {
  readonly label: string
  readonly value: string
}

/** The fields of a page that hold a value. Passwords and buttons are none. */
export async function formFieldsOf(page: PDFPageProxy): Promise<FormField[]> {
  const annotations = await annotationsOf(page)
  return annotations.flatMap((annotation) => {
    if (annotation.subtype !== 'Widget' || annotation.password === true || annotation.hidden === true) return []
    const label = lineOf(annotation.alternativeText) || lineOf(annotation.fieldName)
    const value = valueOf(annotation)
    return label === '' || value === '' ? [] : [{ label: label.slice(0, LABEL_LENGTH_MAX), value }]
  })
}

function valueOf(annotation: Annotation): string {
  switch (annotation.fieldType) {
    case 'Tx':
      return lineOf(annotation.fieldValue).slice(0, VALUE_LENGTH_MAX)
    case 'Ch':
      return chosen(annotation)
    case 'Btn':
      return ticked(annotation)
    default:
      return ''
  }
}

/** What a list shows for the values that were chosen. */
function chosen({ fieldValue, options }: Annotation): string {
  const known = Array.isArray(options) ? (options as { exportValue?: unknown; displayValue?: unknown }[]) : []
  const values: unknown[] = Array.isArray(fieldValue) ? fieldValue : [fieldValue]
  const shown = values.map((value) =>
    lineOf(known.find((option) => option.exportValue === value)?.displayValue ?? value),
  )
  return shown
    .filter((text) => text !== '')
    .join(', ')
    .slice(0, VALUE_LENGTH_MAX)
}

/** A box says whether it is ticked; of a group, the button that is. */
function ticked({ checkBox, radioButton, fieldValue, exportValue, buttonValue }: Annotation): string {
  const value = lineOf(fieldValue)
  if (checkBox === true) return value !== '' && value !== 'Off' && value === lineOf(exportValue) ? 'yes' : 'no'
  return radioButton === true && value !== '' && value === lineOf(buttonValue) ? value : ''
}

/** A link of a page, and where it stands: left, bottom, right, top, in points. */
export interface LinkArea {
  readonly url: string
  readonly rect: readonly [number, number, number, number]
}

/** The links of a page that lead out of the document: to the web, or to write an e-mail. */
export async function linkAreasOf(page: PDFPageProxy): Promise<LinkArea[]> {
  const annotations = await annotationsOf(page)
  return annotations.flatMap(({ subtype, url, rect }) => {
    const target = subtype === 'Link' && typeof url === 'string' ? URL.parse(url) : null
    if (!target || !/^(?:https?|mailto):$/.test(target.protocol) || !isRect(rect)) return []
    return [{ url: target.href, rect }]
  })
}

const isRect = (value: unknown): value is LinkArea['rect'] =>
  Array.isArray(value) && value.length === 4 && value.every((side) => typeof side === 'number')

const lineOf = (value: unknown): string => (typeof value === 'string' ? oneLine(value) : '')
