import { decodeText } from '../charset.ts'
import type { DocumentMeta } from '../document.ts'
import { all, type DomDocument, unwrap } from '../html/nodes.ts'
import type { XmlAttributes } from '../xml/xml-attributes.ts'
import { OfficeError } from './office-error.ts'
import { onOpen, readNeeded, readPart, resolvePart, TextCollector } from './opc.ts'
import type { ZipArchive } from './zip.ts'

const CHAPTERS_MAX = 10_000

export interface Epub {
  /** The chapters in the order of reading, as HTML. */
  readonly chapters: readonly string[]
  readonly meta: DocumentMeta
}

/**
 * Reads an EPUB book.
 * @throws {OfficeError} `bad_document`, `password_protected`
 */
export function readEpub(archive: ZipArchive): Epub {
  assertReadable(archive)
  let rootPart: string | undefined
  readNeeded(
    archive,
    'META-INF/container.xml',
    onOpen((name, attributes) => {
      if (name === 'rootfile') rootPart ??= attributes.get('full-path')
    }),
  )
  if (rootPart === undefined)
    throw new OfficeError('bad_document', 'The book is damaged: it does not name its contents.')
  const { chapters, meta } = readPackage(archive, rootPart)
  return {
    chapters: chapters.flatMap((part) => {
      const bytes = archive.read(part)
      return bytes === undefined ? [] : [asHtml(decodeText(bytes, undefined, 'html').text)]
    }),
    meta,
  }
}

/** Shops sell books that only their programs can read. Fonts that are veiled say nothing of the text. */
function assertReadable(archive: ZipArchive): void {
  const reader = onOpen((name, attributes) => {
    if (name === 'EncryptionMethod' && /xmlenc#(?:aes|tripledes)/.test(attributes.get('Algorithm') ?? '')) {
      throw new OfficeError('password_protected', 'The book is protected; only the program of its shop can open it.')
    }
  })
  readPart(archive, 'META-INF/encryption.xml', reader)
}

const META_NAMES = new Map<string, keyof DocumentMeta>([
  ['title', 'title'],
  ['creator', 'byline'],
  ['description', 'description'],
  ['date', 'published'],
  ['language', 'language'],
])
const CHAPTER_TYPES = new Set(['application/xhtml+xml', 'text/html', 'application/x-dtbook+xml', undefined])

/** The table of contents, which repeats the headings. */
const isContents = (attributes: XmlAttributes) => /\bnav\b/.test(attributes.get('properties') ?? '')

function readPackage(archive: ZipArchive, part: string) {
  const items = new Map<string, string>()
  const chapters: string[] = []
  const collector = new TextCollector((name) => META_NAMES.get(name))
  const open = (name: string, attributes: XmlAttributes) => {
    if (name === 'item' && CHAPTER_TYPES.has(attributes.get('media-type')) && !isContents(attributes)) {
      items.set(attributes.get('id') ?? '', resolvePart(part, attributes.get('href') ?? ''))
    } else if (name === 'itemref' && chapters.length < CHAPTERS_MAX) {
      const chapter = items.get(attributes.get('idref') ?? '')
      if (chapter !== undefined) chapters.push(chapter)
    }
  }
  readNeeded(archive, part, {
    open: (name, attributes) => {
      collector.open()
      open(name, attributes)
    },
    close: (name) => collector.close(name),
    text: (text) => collector.text(text),
  })
  return { chapters, meta: collector.values as DocumentMeta }
}

/** Takes away what leads to other parts of the book: outside of it those links and pictures are of no use. */
export function dropInnerLinks(document: DomDocument): void {
  for (const image of all(document, 'img,svg')) image.remove()
  for (const link of all(document, 'a[href]')) {
    const href = link.getAttribute('href') ?? ''
    const isNote = /\bnoteref\b/.test(link.getAttribute('epub:type') ?? '') && href.startsWith('#')
    if (isNote) link.setAttribute('role', 'doc-noteref')
    else if (!URL.canParse(href)) unwrap(link)
  }
}

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
const EMPTY_TAG = /<([A-Za-z][\w:-]*)((?:\s[^<>]*)?)\/>/g

/** XHTML read as HTML would take an empty element, such as `<title/>`, for the start of one. */
const asHtml = (source: string) =>
  source.replaceAll(EMPTY_TAG, (tag, name: string, attributes: string) =>
    VOID.has(name.toLowerCase()) ? tag : `<${name}${attributes}></${name}>`,
  )
