import type { DocumentMeta } from '../document.ts'
import { OfficeError } from './office-error.ts'
import { onOpen, readPart, TextCollector } from './opc.ts'
import type { ZipArchive } from './zip.ts'

/** @throws {OfficeError} `password_protected` if parts of an OpenDocument document are encrypted. */
export function assertOpen(archive: ZipArchive): void {
  const reader = onOpen((name) => {
    if (name === 'encryption-data') {
      throw new OfficeError('password_protected', 'The document is protected by a password.')
    }
  })
  readPart(archive, 'META-INF/manifest.xml', reader)
}

const META_NAMES = new Map<string, keyof DocumentMeta | 'editor'>([
  ['title', 'title'],
  ['description', 'description'],
  ['initial-creator', 'byline'],
  ['creator', 'editor'],
  ['creation-date', 'published'],
  ['date', 'modified'],
  ['language', 'language'],
])

/** What the properties of an OpenDocument document say about it. Who changed it last stands for an author not named. */
export function odfMeta(archive: ZipArchive): DocumentMeta {
  const collector = new TextCollector((name) => META_NAMES.get(name))
  readPart(archive, 'meta.xml', collector)
  const { editor, ...told } = collector.values
  return editor === undefined ? told : { byline: editor, ...told }
}
