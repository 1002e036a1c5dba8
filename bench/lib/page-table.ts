import { convert } from '../../src/fetcher/convert/convert.ts'
import { type EvalPage, type PageSet, readPageSets } from './page-sets.ts'
import { plainReadability } from './plain-readability.ts'
import { meanScore, type Score, scoreShingles, scoreWords } from './text-scores.ts'

interface Row {
  readonly type: string
  readonly score: Score
  /** The score without the title that the content begins with: the truth may be an article's body alone. */
  readonly untitled: Score
  readonly plain: Score
  readonly ms: number
  readonly plainMs: number
  /** Why there is no content, if there is none. */
  readonly failure: string | undefined
}

const HEAD = ['set', 'pages', 'precision', 'recall', 'F1', 'F1 without title', 'ms', 'Readability F1', 'its ms', 'gain']

/** Prints how much of the main text of the saved pages in a folder comes out, as a Markdown table. */
export async function printPages(folder: string): Promise<void> {
  console.log(`| ${HEAD.join(' | ')} |\n| --- ${'| ---: '.repeat(HEAD.length - 1)}|`)
  for (const set of readPageSets(folder)) {
    const rows: Row[] = []
    for (const page of set.pages) rows.push(await rowOf(page, set))
    print(`**${set.name}**`, rows, set)
    const types = Map.groupBy(rows, ({ type }) => type)
    if (types.size > 1) {
      for (const [type, typed] of [...types].toSorted(([a], [b]) => a.localeCompare(b))) print(type, typed, set)
    }
    for (const [index, { failure }] of rows.entries()) {
      if (failure !== undefined) console.error(`${set.name} ${set.pages[index]?.id}: ${failure}`)
    }
  }
}

async function rowOf(page: EvalPage, { scoring }: PageSet): Promise<Row> {
  const scoreOf = scoring === 'shingles' ? scoreShingles : scoreWords
  const html = page.html()
  const body = Buffer.from(html)
  const startedAt = performance.now()
  const conversion = await convert({ body, url: page.url, contentType: 'text/html; charset=utf-8', mode: 'text' })
  const doneAt = performance.now()
  const plain = plainReadability(html)
  const plainMs = performance.now() - doneAt
  const { content, meta } = 'failure' in conversion ? { content: '', meta: { title: undefined } } : conversion
  return {
    type: page.type,
    score: scoreOf(page.truth, content),
    untitled: scoreOf(page.truth, withoutTitle(content, meta.title)),
    plain: scoreOf(page.truth, plain),
    ms: doneAt - startedAt,
    plainMs,
    failure: 'failure' in conversion ? `${conversion.failure.code}: ${conversion.failure.message}` : undefined,
  }
}

function withoutTitle(content: string, title: string | undefined): string {
  const [first = '', ...rest] = content.split('\n')
  return first.trim() === title ? rest.join('\n') : content
}

function print(name: string, rows: readonly Row[], { scoring }: PageSet): void {
  const meanOf = (of: (row: Row) => number) => rows.reduce((sum, row) => sum + of(row), 0) / rows.length
  const f1Of = (of: (row: Row) => Score) => meanScore(rows.map(of), scoring).f1
  const { precision, recall, f1 } = meanScore(
    rows.map(({ score }) => score),
    scoring,
  )
  const plain = f1Of((row) => row.plain)
  const shares = [precision, recall, f1, f1Of((row) => row.untitled)].map((share) => share.toFixed(3))
  const ms = meanOf((row) => row.ms).toFixed(0)
  const plainMs = meanOf((row) => row.plainMs).toFixed(0)
  const cells = [name, rows.length, ...shares, ms, plain.toFixed(3), plainMs, (f1 - plain).toFixed(3)]
  console.log(`| ${cells.join(' | ')} |`)
}
