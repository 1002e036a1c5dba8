import { describe, expect, it } from 'vitest'

import { parseContentType } from '../../../src/fetcher/convert/content-type.ts'
import { kindOf } from '../../../src/fetcher/convert/kind.ts'

const kind = (body: string, header?: string) => kindOf(Buffer.from(body, 'latin1'), parseContentType(header))

const PDF = '%PDF-1.7\n%\xE2\xE3\xCF\xD3\n1 0 obj'
const PNG = '\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01'

describe('bytes decide before the header', () => {
  it.each(['image/jp2', 'application/octet-stream', 'text/html', 'text/plain', undefined])('a PDF as %s', (header) => {
    expect(kind(PDF, header)).toEqual({ kind: 'binary', name: 'a PDF document' })
  })

  it('a PDF after ten bytes of junk', () => {
    expect(kind(`\0\x01\x02\r\n\x03\x04\x05\x06\x07${PDF}`, 'text/plain')).toEqual({
      kind: 'binary',
      name: 'a PDF document',
    })
    expect(kind(`-----12345${PDF}`)).toEqual({ kind: 'binary', name: 'a PDF document' })
  })

  it('a text that tells of PDF is a text', () => {
    expect(kind('A file starts with %PDF-1.7, as you know.', 'text/plain').kind).toBe('text')
  })

  it.each([
    [PNG, 'text/html', 'a PNG image'],
    ['GIF89a\x01\0', undefined, 'a GIF image'],
    ['\xFF\xD8\xFF\xE0\0\x10JFIF', 'text/plain', 'a JPEG image'],
    ['PK\x03\x04\x14\0\x06\0', 'application/json', 'a ZIP archive or an Office document'],
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

describe('text', () => {
  it.each([
    ['<!DOCTYPE html><p>x', 'text/plain', 'html', 'text/html'],
    ['\n<!-- a --><html lang=en>', undefined, 'html', 'text/html'],
    ['\xEF\xBB\xBF<html>', 'application/octet-stream', 'html', 'text/html'],
    ['<?xml version="1.0"?><!DOCTYPE html><html>', 'application/xhtml+xml', 'html', 'application/xhtml+xml'],
    ['<p>No doctype</p>', 'text/html; charset=x', 'html', 'text/html'],
    ['<p>No doctype</p>', 'text/plain', 'text', 'text/plain'],
    ['{"a":1}', 'text/html', 'json', 'application/json'],
    ['{"a":1}', 'application/vnd.api+json', 'json', 'application/vnd.api+json'],
    ['{"a":1}', undefined, 'json', 'application/json'],
    ['{not json', 'text/html', 'html', 'text/html'],
    ['<?xml version="1.0"?><rss>', 'text/html', 'xml', 'application/xml'],
    ['<feed xmlns="x">', 'application/atom+xml', 'xml', 'application/atom+xml'],
    ['<svg xmlns="x">', 'image/svg+xml', 'xml', 'image/svg+xml'],
    ['a,b\n1,2', 'text/csv', 'text', 'text/csv'],
    ['let a', 'text/javascript', 'text', 'text/javascript'],
    ['hello', undefined, 'text', 'text/plain'],
    ['\x1B$BF|K\\\x1B(B', 'text/plain', 'text', 'text/plain'],
  ])('%j as %s is %s, %s', (body, header, expected, mediaType) => {
    expect(kind(body, header)).toEqual({ kind: expected, mediaType })
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
