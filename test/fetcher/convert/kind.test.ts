import { createCipheriv } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { parseContentType } from '../../../src/fetcher/convert/content-type.ts'
import { kindOf } from '../../../src/fetcher/convert/kind.ts'
import { docx, odf, pptx, xlsx } from '../../helpers/office-files.ts'
import { zipFile } from '../../helpers/zip-file.ts'

const kindOfBytes = (body: Uint8Array, header?: string) => kindOf(body, parseContentType(header))
const kind = (body: string, header?: string) => kindOfBytes(Buffer.from(body, 'latin1'), header)
const fixture = (name: string) => readFileSync(new URL(`../../fixtures/office/${name}`, import.meta.url))

const PDF = '%PDF-1.7\n%\xE2\xE3\xCF\xD3\n1 0 obj'
const PNG = '\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01'

describe('bytes decide before the header', () => {
  it.each(['image/jp2', 'application/octet-stream', 'text/html', 'text/plain', 'application/json', undefined])(
    'a PDF as %s',
    (header) => {
      expect(kind(PDF, header)).toEqual({ kind: 'pdf', mediaType: 'application/pdf' })
    },
  )

  it('a PDF after ten bytes of junk', () => {
    expect(kind(`\0\x01\x02\r\n\x03\x04\x05\x06\x07${PDF}`, 'text/plain').kind).toBe('pdf')
    expect(kind(`-----12345${PDF}`).kind).toBe('pdf')
  })

  it('a text that tells of PDF is a text', () => {
    expect(kind('A file starts with %PDF-1.7, as you know.', 'text/plain').kind).toBe('text')
  })

  it.each([
    [PNG, 'text/html', 'a PNG image'],
    [PNG, 'text/plain', 'a PNG image'],
    ['GIF89a\x01\0', undefined, 'a GIF image'],
    ['\xFF\xD8\xFF\xE0\0\x10JFIF', 'text/plain', 'a JPEG image'],
    ['\xFF\x4F\xFF\x51\0\x2F', 'image/jp2', 'a JPEG 2000 image'],
    ['\0\x01\x02\x03\x04\x05abc', 'text/html', 'binary data (text/html)'],
    ['\x01\x02\x03\x04', undefined, 'binary data'],
    ['P3 1 1 255 0 0 0', 'image/x-portable-pixmap', 'an image (image/x-portable-pixmap)'],
  ])('%j as %s is %s', (body, header, name) => {
    expect(kind(body, header)).toEqual({ kind: 'binary', name })
  })

  it('a page with stray NULs is a page', () => {
    expect(kind('<!doctype html><p>null\0byte</p>', 'text/html').kind).toBe('html')
  })
})

describe('what follows the beginning counts, too:', () => {
  const header = Buffer.from('#!/bin/sh\n# An installer with its archive behind it.\n'.repeat(400))
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(300_000))
  const text = Buffer.from('A line of a long text.\n'.repeat(20_000))

  it.each([
    ['data behind a script', Buffer.concat([header, noise])],
    ['data between two texts', Buffer.concat([text, noise, text])],
    ['data at the end of a long text', Buffer.concat([text, noise.subarray(0, 8_192)])],
    ['a little data behind the first sample', Buffer.concat([text.subarray(0, 16_384), noise.subarray(0, 2_000)])],
  ])('%s is binary', (_what, body) => {
    for (const label of ['application/octet-stream', 'text/plain', 'text/csv', 'application/json', undefined]) {
      expect(kindOfBytes(body, label).kind).toBe('binary')
    }
  })

  it.each([
    ['that a block of NULs fills up', Buffer.concat([text, Buffer.alloc(100_000)])],
    ['with a NUL behind the first sample', Buffer.concat([text.subarray(0, 16_384), Buffer.from('\0x')])],
  ])('a text %s is text', (_what, body) => expect(kindOfBytes(body, 'text/plain').kind).toBe('text'))

  it.each([
    ['windows-1251', 'CFF0E8E2E5F22C20ECE8F0210A'],
    ['gbk', 'C4E3BAC3A3ACCAC0BDE7A1A30A'],
    ['gb18030', '8130813081308131C4E30A'],
    ['euc-kr', 'BEC8B3E7C7CFBCBCBFE40A'],
    ['shift_jis', '82B182F182C982BF82CD81420A'],
    ['iso-2022-jp', '1B24422433247324214A1B28420A'],
    ['a log of a terminal', '31302508080808081B5B4B3230250A'],
  ])('a long text in %s is text', (_charset, hex) => {
    const body = Buffer.from(hex.repeat(20_000), 'hex')
    for (const label of ['application/octet-stream', 'text/plain', undefined]) {
      expect(kindOfBytes(body, label)).toEqual({ kind: 'text', mediaType: 'text/plain' })
    }
  })
})

describe('office documents are told by what is in them', () => {
  it.each([
    ['doc.docx', 'docx'],
    ['doc.odt', 'odt'],
    ['doc.epub', 'epub'],
    ['doc.rtf', 'rtf'],
    ['sheet.xlsx', 'xlsx'],
    ['sheet.ods', 'ods'],
    ['slides.pptx', 'pptx'],
    ['slides.odp', 'odp'],
  ])('%s under any header', (name, format) => {
    for (const header of ['application/octet-stream', 'application/zip', 'text/html', 'text/plain', undefined]) {
      expect(kindOfBytes(fixture(name), header)).toMatchObject({ kind: 'office', format })
    }
  })

  it.each([
    ['docx', docx('')],
    ['xlsx', xlsx('')],
    ['pptx', pptx([])],
    ['odt', odf('text', '')],
  ])('a small %s', (format, body) => expect(kindOfBytes(body)).toMatchObject({ kind: 'office', format }))

  it.each([
    ['doc.doc', 'an old Word document'],
    ['sheet.xls', 'an old Excel document'],
  ])('%s is %s', (name, expected) => {
    expect(kindOfBytes(fixture(name), 'application/msword')).toEqual({ kind: 'binary', name: expected })
  })

  it('flat OpenDocument XML is XML', () => {
    expect(kindOfBytes(fixture('slides.fodp'))).toEqual({ kind: 'xml', mediaType: 'application/xml' })
  })

  it.each([
    ['other files', zipFile({ 'a.txt': 'text' }), 'a ZIP archive'],
    ['a binary workbook', zipFile({ '[Content_Types].xml': '', 'xl/workbook.bin': '' }), 'a binary Excel workbook'],
    ['nothing that is whole', zipFile({ 'a.txt': 'text' }).subarray(0, 40), 'a ZIP archive that is damaged'],
  ])('an archive of %s', (_what, body, name) => {
    expect(kindOfBytes(body, 'application/json')).toEqual({ kind: 'binary', name })
  })

  it('a document that was cut off is broken', () => {
    for (const name of ['doc.docx', 'doc.odt', 'doc.epub']) {
      expect(kindOfBytes(fixture(name).subarray(0, 2_000))).toEqual({ kind: 'broken' })
    }
  })

  it('an OLE file with an encrypted package is locked', () => {
    expect(kindOfBytes(oleFile('EncryptedPackage'))).toEqual({ kind: 'locked' })
    expect(kindOfBytes(oleFile('PowerPoint Document'))).toMatchObject({ name: 'an old PowerPoint document' })
    expect(kindOfBytes(oleFile('Unknown'))).toMatchObject({ name: 'an old Office document' })
  })
})

/** The head of an OLE file and one entry of its directory. */
function oleFile(stream: string): Buffer {
  const head = Buffer.alloc(512)
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(head)
  const entry = Buffer.alloc(128)
  const nameBytes = entry.write(stream, 'utf16le')
  entry.writeUInt16LE(nameBytes + 2, 64)
  entry.writeUInt8(2, 66)
  return Buffer.concat([head, entry])
}

const RDF = '<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/">'

describe('text', () => {
  it.each([
    ['<!DOCTYPE html><p>x', 'text/plain', 'html', 'text/html'],
    ['\n<!-- a --><html lang=en>', undefined, 'html', 'text/html'],
    ['\xEF\xBB\xBF<html>', 'application/octet-stream', 'html', 'text/html'],
    ['<?xml version="1.0"?><!DOCTYPE html><html>', 'application/xhtml+xml', 'html', 'application/xhtml+xml'],
    ['<p>No doctype</p>', 'text/html; charset=x', 'html', 'text/html'],
    ['<p>No doctype</p>', 'text/plain', 'text', 'text/plain'],
    ['{not json', 'text/html', 'html', 'text/html'],
    ['<?xml version="1.0"?><a>', 'text/html', 'xml', 'application/xml'],
    ['<svg xmlns="x">', 'image/svg+xml', 'xml', 'image/svg+xml'],
    ['<svg xmlns="x">', 'text/html', 'html', 'text/html'],
    ['let a', 'text/javascript', 'text', 'text/javascript'],
    ['hello', undefined, 'text', 'text/plain'],
    ['\x1B$BF|K\\\x1B(B', 'text/plain', 'text', 'text/plain'],
    ['a,b\n1,2', 'text/csv', 'csv', 'text/csv'],
    ['a\tb\n1\t2', 'text/tab-separated-values', 'csv', 'text/tab-separated-values'],
    ['a,b\n1,2', 'text/plain', 'text', 'text/plain'],
    ['<html><p>Not found', 'text/csv', 'html', 'text/html'],
  ])('%j as %s is %s, %s', (body, header, expected, mediaType) => {
    expect(kind(body, header)).toEqual({ kind: expected, mediaType })
  })

  it.each([
    ['{"a":1}', 'text/html', 'json', 'application/json'],
    ['{"a":1}', 'text/plain', 'json', 'application/json'],
    ['{"a":1}', 'application/vnd.api+json', 'json', 'application/vnd.api+json'],
    ['{"a":1}', undefined, 'json', 'application/json'],
    ['\xEF\xBB\xBF{"a":1}', undefined, 'json', 'application/json'],
    ['\xFF\xFE{\0}\0', undefined, 'json', 'application/json'],
    ['{"a":1}\n{"a":2}\n', 'application/x-ndjson', 'json-lines', 'application/x-ndjson'],
    ['{"a":1}\n', 'application/jsonl', 'json-lines', 'application/jsonl'],
    ['{"a":1}\n{"a":2}\n', 'application/json', 'json-lines', 'application/json'],
    ['{"a":1}\r\n\r\n[2]', 'text/plain', 'json-lines', 'application/x-ndjson'],
    ['{"a":1}\nend of list', 'text/plain', 'text', 'text/plain'],
    ['[note] a text', 'text/plain', 'text', 'text/plain'],
    ['12', undefined, 'text', 'text/plain'],
    ['{"a":1}', 'text/javascript', 'text', 'text/javascript'],
  ])('JSON: %j as %s is %s, %s', (body, header, expected, mediaType) => {
    expect(kind(body, header)).toEqual({ kind: expected, mediaType })
  })

  it.each([
    ['<?xml version="1.0"?><rss version="2.0">', 'feed', 'application/rss+xml'],
    ['<rss>', 'feed', 'application/rss+xml'],
    ['<?xml version="1.0"?>\n<!-- a --><?xml-stylesheet href="a"?><feed xmlns="x">', 'feed', 'application/atom+xml'],
    ['<a:feed xmlns:a="http://www.w3.org/2005/Atom">', 'feed', 'application/atom+xml'],
    [`<?xml version="1.0"?>${RDF}`, 'feed', 'application/rss+xml'],
    ['<?xml version="1.0"?><rdf:RDF xmlns:rdf="r">', 'xml', 'application/xml'],
    ['<!DOCTYPE urlset [ <!ENTITY a "b"> ]><urlset>', 'sitemap', 'application/xml'],
    ['\xEF\xBB\xBF\n<sitemapindex/>', 'sitemap', 'application/xml'],
  ])('XML: %j is %s under a header that says less', (body, expected, mediaType) => {
    for (const header of ['text/html', 'application/octet-stream', undefined]) {
      expect(kind(body, header)).toEqual({ kind: expected, mediaType })
    }
    expect(kind(body, 'text/xml')).toEqual({ kind: expected, mediaType: 'text/xml' })
    expect(kind(body, 'application/rss+xml; charset=utf-8').kind).toBe(expected)
  })
})

it.each([
  ['text/HTML;Charset="UTF-8"', 'text/html', 'UTF-8'],
  ["text/html; charset='gbk'", 'text/html', 'gbk'],
  ['text/html; a=b; charset = iso-8859–1 ; c', 'text/html', 'iso-8859–1'],
  ['text/html, text/html', 'text/html', undefined],
  ['nonsense', undefined, undefined],
  [undefined, undefined, undefined],
])('reads the header %j', (header, essence, charset) => {
  expect(parseContentType(header)).toEqual({ essence, charset })
})
