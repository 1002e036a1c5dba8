import { zipFile } from './zip-file.ts'

const RELATIONSHIP = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** One relationship of a part. A target with a scheme is external. */
export type Relation = readonly [id: string, type: string, target: string]

export const relationships = (...relations: readonly Relation[]): string =>
  `<Relationships>${relations
    .map(([id, type, target]) => {
      const mode = /^\w+:/.test(target) ? ' TargetMode="External"' : ''
      return `<Relationship Id="${id}" Type="${RELATIONSHIP}/${type}" Target="${target}"${mode}/>`
    })
    .join('')}</Relationships>`

type Parts = Readonly<Record<string, string | Uint8Array>>

const opc = (main: string, parts: Parts): Buffer =>
  zipFile({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relationships(['rId1', 'officeDocument', main]),
    ...parts,
  })

/** A Word document. @param body what stands in `w:body`. */
export const docx = (body: string, parts: Parts = {}): Buffer =>
  opc('word/document.xml', {
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="w" xmlns:r="r"><w:body>${body}</w:body></w:document>`,
    ...parts,
  })

/** An Excel workbook with one sheet, `Data`. @param rows what stands in `sheetData`. */
export const xlsx = (rows: string, parts: Parts = {}, behind = ''): Buffer =>
  opc('xl/workbook.xml', {
    'xl/workbook.xml': '<workbook><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relationships(['rId1', 'worksheet', 'worksheets/sheet1.xml']),
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData>${behind}</worksheet>`,
    ...parts,
  })

/** A PowerPoint presentation. @param slides what stands in the shape tree of each. */
export const pptx = (slides: readonly string[], parts: Parts = {}): Buffer =>
  opc('ppt/presentation.xml', {
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${slides
      .map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`)
      .join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationships(
      ...slides.map((_, index): Relation => [`rId${index + 1}`, 'slide', `slides/slide${index + 1}.xml`]),
    ),
    ...Object.fromEntries(
      slides.map((shapes, index) => [
        `ppt/slides/slide${index + 1}.xml`,
        `<p:sld><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`,
      ]),
    ),
    ...parts,
  })

/** An OpenDocument document. @param content what stands in `office:document-content`. */
export const odf = (type: 'text' | 'spreadsheet' | 'presentation', content: string, parts: Parts = {}): Buffer =>
  zipFile({
    mimetype: `application/vnd.oasis.opendocument.${type}`,
    'content.xml': `<?xml version="1.0"?><office:document-content>${content}</office:document-content>`,
    ...parts,
  })
