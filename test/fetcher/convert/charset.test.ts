import { describe, expect, it } from 'vitest'

import { decodeText } from '../../../src/fetcher/convert/charset.ts'

/** Texts and their bytes in the encoding of their name, as another implementation wrote them. */
const GBK = { text: '中文网页,汉字。', hex: 'd6d0cec4cdf8d2b32cbabad7d6a1a3' }
const GB18030 = { text: '𠮷汉', hex: '9534b235baba' } // Four bytes for the first.
const SHIFT_JIS = { text: '日本語のページ、漢字。', hex: '93fa967b8cea82cc8379815b835781418abf8e9a8142' }
const EUC_JP = { text: '日本語のページ。', hex: 'c6fccbdcb8eca4cea5daa1bca5b8a1a3' }
const ISO_2022_JP = { text: '日本', hex: '1b2442467c4b5c1b2842' }
const EUC_KR = { text: '한국어 페이지, 똠방각하.', hex: 'c7d1b1b9beee20c6e4c0ccc1f62c208c63b9e6b0a2c7cf2e' } // 똠: not in KS X 1001.
const BIG5 = { text: '繁體中文頁面。', hex: 'c163c5e9a4a4a4e5adb6adb1a143' }
const WINDOWS_1251 = { text: 'Русская страница, ёж.', hex: 'd0f3f1f1eae0ff20f1f2f0e0ede8f6e02c20b8e62e' }
const KOI8_R = { text: 'Русский текст', hex: 'f2d5d3d3cbc9ca20d4c5cbd3d4' }
const ISO_8859_2 = {
  text: 'Zażółć gęślą jaźń, řeřicha.',
  hex: '5a61bff3b3e62067eab66cb1206a61bcf12c20f865f8696368612e',
}
const WINDOWS_1252 = { text: '“smart” – €uro', hex: '93736d617274942096208075726f' }
const WINDOWS_874 = { text: 'ภาษาไทย', hex: 'c0d2c9d2e4b7c2' }
const utf8 = (text: string) => ({ text, hex: Buffer.from(text).toString('hex') })
const utf16 = (text: string) => ({ text, hex: Buffer.from(text, 'utf16le').toString('hex') })
const utf16be = (text: string) => ({ text, hex: Buffer.from(text, 'utf16le').swap16().toString('hex') })

interface Sample {
  readonly text: string
  readonly hex: string
}
/** ASCII, then the bytes of the sample. */
const page = (markup: string, { hex }: Sample) =>
  Buffer.concat([Buffer.from(markup, 'latin1'), Buffer.from(hex, 'hex')])
const meta = (label: string) => `<!doctype html><html><head><meta charset=${label}><title>`

describe('a page is read with', () => {
  it.each<[why: string, sample: Sample, markup: string, header?: string]>([
    ['meta GBK', GBK, meta('gbk')],
    ['meta gb2312, which means GBK', GBK, meta('gb2312')],
    ['meta gb18030', GB18030, meta('gb18030')],
    [
      'http-equiv Shift_JIS',
      SHIFT_JIS,
      '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><title>',
    ],
    ['http-equiv EUC-KR', EUC_KR, '<meta http-equiv="content-type" content="text/html;charset=euc-kr"><title>'],
    ['an alias, x-sjis', SHIFT_JIS, meta('x-sjis')],
    ['meta EUC-JP', EUC_JP, meta('euc-jp')],
    ['meta ISO-2022-JP', ISO_2022_JP, meta('iso-2022-jp')],
    ['meta EUC-KR, which means UHC', EUC_KR, meta('euc-kr')],
    ['an alias, ks_c_5601-1987', EUC_KR, meta('ks_c_5601-1987')],
    ['meta Big5', BIG5, meta('big5')],
    ['the header, without a meta', WINDOWS_1251, '<title>', 'windows-1251'],
    ['the header, against the meta', KOI8_R, meta('utf-8'), 'koi8-r'],
    ['meta ISO-8859-2', ISO_8859_2, meta('iso-8859-2')],
    ['meta ISO-8859-1, which means windows-1252', WINDOWS_1252, meta('iso-8859-1')],
    ['windows-1252, if nothing tells and the bytes are not UTF-8', WINDOWS_1252, '<title>'],
    ['meta TIS-620, which means windows-874', WINDOWS_874, meta('tis-620')],
    ['a byte order mark of UTF-16LE', utf16('<title>页'), '\xFF\xFE'],
    ['a byte order mark of UTF-16BE, against the header', utf16be('<title>ёж'), '\xFE\xFF', 'utf-8'],
    ['UTF-16LE by the header', utf16('<title>ёж'), '', 'utf-16le'],
    ['a byte order mark of UTF-8, against the meta', utf8('汉字'), `\xEF\xBB\xBF${meta('gbk')}`],
    ['UTF-8, if a meta says UTF-16', utf8('汉字'), meta('utf-16')],
    ['windows-1252, if a meta says x-user-defined', WINDOWS_1252, meta('x-user-defined')],
    ['an alias, unicode-1-1-utf-8', utf8('汉字'), meta('unicode-1-1-utf-8')],
    ['UTF-8, if nothing tells and the bytes are valid', utf8('汉字'), '<title>'],
    ['UTF-8, if the label is none there is', utf8('汉字'), meta('none'), 'none'],
    ['the meta after one in a comment', WINDOWS_1251, `<!-- <meta charset=gbk> -->${meta('windows-1251')}`],
    ['a meta at byte 900', WINDOWS_1251, `<head>${' '.repeat(880)}<meta charset=windows-1251><title>`],
    ['a meta at byte 3,000', WINDOWS_1251, `<script>${'x'.repeat(2_990)}</script><meta charset=windows-1251><title>`],
  ])('%s', (_why, sample, markup, header) => {
    expect(decodeText(page(markup, sample), header, 'html').text).toContain(sample.text)
  })
})

describe('a label that names no encoding', () => {
  it.each(['iso-8859–1', '"utf-8', 'utf-7', 'none', '\0', 'x'.repeat(10_000)])('counts as none: %j', (label) => {
    expect(decodeText(page('<title>', utf8('汉字')), label, 'html')).toEqual({ text: '<title>汉字', charset: 'UTF-8' })
  })
})

it('reads encodings that browsers refuse for their danger as one replacement character', () => {
  expect(decodeText(Buffer.from('abc'), 'iso-2022-kr', 'html').text).toBe('\uFFFD')
})

it('reads XML by its prolog, and other text by no mark inside it', () => {
  const prolog = '<?xml version="1.0" encoding="windows-1251"?><rss>'
  expect(decodeText(page(prolog, WINDOWS_1251), undefined, 'xml').text).toBe(prolog + WINDOWS_1251.text)
  expect(decodeText(page('<meta charset=gbk>', utf8('汉字')), undefined, 'other').text).toContain('汉字')
})

it('never lets a byte order mark into the text', () => {
  expect(decodeText(page('\xEF\xBB\xBF', utf8('{}')), undefined, 'other').text).toBe('{}')
})
