const paragraph = (index: number) =>
  `<p>Paragraph ${index} of a long page, with <a href="/l${index}">a link</a>, <b>bold</b> words, commas, and clauses.</p>\n`
const page = (body: string) => `<!doctype html><html><head><title>Heavy</title></head><body>${body}</body></html>`
const paragraphs = (bytes: number) =>
  Array.from({ length: Math.ceil(bytes / 120) }, (_, index) => paragraph(index)).join('')

/** Pages that would stall a process for seconds that converts them itself. */
export const heavyPages: Readonly<Record<string, () => string>> = {
  'five-megabytes': () => page(`<article>${paragraphs(5_000_000)}</article>`),
  'nested-6000': () => page(`${'<div>'.repeat(6_000)}${paragraph(0).repeat(20)}${'</div>'.repeat(6_000)}`),
  'one-line-of-ten-megabytes': () => page(`<p>${'word '.repeat(2_000_000)}</p>`),
}
