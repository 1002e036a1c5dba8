import { describe, expect, it } from 'vitest'

import { captureUrl, isoTime, isSamePage, parseCaptureUrl } from '../../../src/fetcher/archive/capture-place.ts'

describe('the time of a capture', () => {
  it.each([
    ['20240229235959', '2024-02-29T23:59:59.000Z'],
    ['19961231000000', '1996-12-31T00:00:00.000Z'],
    ['20230229000000', undefined],
    ['20240101240000', undefined],
    ['20241301000000', undefined],
    ['2024', undefined],
    ['202401010000000', undefined],
    ['2024010100000x', undefined],
    ['', undefined],
  ])('is read: %s', (timestamp, expected) => {
    expect(isoTime(timestamp)).toBe(expected)
  })
})

describe('the address of a capture', () => {
  it.each([
    'https://gone.org/',
    'http://www.gone.org:80/a//b?c=d&e=/web/20240101000000/http://x.org/',
    'https://gone.org/web/20240101000000id_/https://deep.org/',
  ])('is read as it is written: %s', (original) => {
    for (const root of ['https://web.archive.org', 'http://127.0.0.2:8080', 'https://archive.example/path/to']) {
      const place = { timestamp: '20210203040506', original }
      expect(parseCaptureUrl(captureUrl(root, place))).toEqual(place)
    }
  })

  it.each([
    'https://web.archive.org/',
    'https://web.archive.org/web/',
    'https://web.archive.org/web/2021/https://gone.org/',
    'https://web.archive.org/web/20219999999999/https://gone.org/',
    'https://web.archive.org/web/20210203040506id_/',
    'https://web.archive.org/web/20210203040506id_/gone.org',
    'https://web.archive.org/search?q=/web/20210203040506id_/https://gone.org/',
    'ftp://web.archive.org/web/20210203040506id_/https://gone.org/',
  ])('is not any address: %s', (url) => {
    expect(parseCaptureUrl(url)).toBeUndefined()
  })
})

describe('a page', () => {
  it.each([
    'http://gone.org/a?x=1&y=2',
    'https://www.gone.org/a?x=1&y=2',
    'https://WWW2.gone.org./A/?X=1&y=2',
    'https://gone.org:8443/a?y=2&x=1',
    'https://gone.org/%61?x=%31&y=2#part',
  ])('is the same as %s', (url) => {
    expect(isSamePage(url, 'https://gone.org/a?x=1&y=2')).toBe(true)
  })

  it.each([
    'https://gone.org/',
    'https://gone.org/a',
    'https://gone.org/a?x=1',
    'https://gone.org/a?x=1&y=3',
    'https://gone.org/a/b?x=1&y=2',
    'https://sub.gone.org/a?x=1&y=2',
    'https://gone.org.evil.org/a?x=1&y=2',
    'not a URL',
  ])('is not the same as %s', (url) => {
    expect(isSamePage(url, 'https://gone.org/a?x=1&y=2')).toBe(false)
  })
})
