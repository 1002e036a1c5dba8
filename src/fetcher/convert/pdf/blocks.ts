/** A part of a page, in the order in which it is read. Texts are plain, without line breaks. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph' | 'quote' | 'figure'; readonly text: string }
  /** `marker`: `-`, or a number with a full stop. `depth` from 0. */
  | { readonly kind: 'item'; readonly depth: number; readonly marker: string; readonly text: string }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'code'; readonly lines: readonly string[] }

/** Writes blocks as Markdown, or without any marks. */
export const writeBlocks = (blocks: readonly Block[], plain: boolean): string =>
  blocks
    .map((block, index) => {
      const isInList = block.kind === 'item' && blocks[index + 1]?.kind === 'item'
      return `${plain ? plainBlock(block) : markdownBlock(block)}${isInList ? '\n' : '\n\n'}`
    })
    .join('')
    .trim()

function markdownBlock(block: Block): string {
  if (block.kind === 'table') return markdownTable(block.rows)
  if (block.kind === 'code') return markdownCode(block.lines)
  const text = escapeText(block.text)
  if (block.kind === 'heading') return `${'#'.repeat(block.level)} ${text}`
  if (block.kind === 'figure') return `![${text}]()`
  if (block.kind === 'quote') return `> ${escapeStart(text)}`
  if (block.kind === 'item') return `${'  '.repeat(block.depth)}${block.marker} ${escapeStart(text)}`
  return escapeStart(text)
}

function markdownTable(rows: readonly (readonly string[])[]): string {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const write = (row: readonly string[]) => {
    const cells = Array.from({ length: width }, (_, column) => escapeText(row[column] ?? '').replaceAll('|', '\\|'))
    return `| ${cells.join(' | ')} |`
  }
  const [head = [], ...body] = rows
  return [write(head), `|${' --- |'.repeat(width)}`, ...body.map(write)].join('\n')
}

function markdownCode(lines: readonly string[]): string {
  const longest = lines.flatMap((line) => line.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0)
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return [fence, ...lines, fence].join('\n')
}

function plainBlock(block: Block): string {
  if (block.kind === 'table') return block.rows.map((row) => row.join('\t')).join('\n')
  if (block.kind === 'code') return block.lines.join('\n')
  return block.kind === 'item' ? `${'  '.repeat(block.depth)}${block.marker} ${block.text}` : block.text
}

/** What would be emphasis, code, a link or HTML. */
const escapeText = (text: string): string =>
  text
    .replaceAll(/\\(?=[\\`*_[\]()<>#+.!|{}-])/g, '\\\\')
    .replaceAll('`', '\\`')
    .replaceAll(/\*(?=\S)|(?<=\S)\*/g, '\\*')
    .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replaceAll(/<(?!https?:|mailto:)(?=[A-Za-z/!?])/g, '\\<')
    .replaceAll(/\](?=[([])/g, '\\]')

/** What would make a heading, quote, list or rule of a paragraph. */
const escapeStart = (text: string): string =>
  text
    .replace(/^(?:#{1,6}(?=\s|$)|>|[-+](?=\s|$)|-{3,}|={3,}|~{3,})/, '\\$&')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2')
