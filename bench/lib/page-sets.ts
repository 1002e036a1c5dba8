import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

/** A saved page and what a person took for its main text. */
export interface EvalPage {
  readonly id: string
  readonly url: string
  /** What kind of page it is, such as `article` or `product`. */
  readonly type: string
  readonly truth: string
  readonly html: () => string
}

/** Pages that are scored alike. */
export interface PageSet {
  readonly name: string
  /** `shingles`: runs of four words, the truth being an article's body without its title. `words`: bags of words. */
  readonly scoring: 'shingles' | 'words'
  readonly pages: readonly EvalPage[]
}

/**
 * Reads the page sets under a folder, each a folder of its own: `html/<id>.html.gz` beside either one
 * `ground-truth.json` (the format of scrapinghub/article-extraction-benchmark) or `ground-truth/<id>.json` (WCXB).
 */
export function readPageSets(folder: string): PageSet[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => {
      const set = path.join(folder, name)
      if (existsSync(path.join(set, 'ground-truth.json'))) return { name, scoring: 'shingles', pages: bodies(set) }
      if (existsSync(path.join(set, 'ground-truth'))) return { name, scoring: 'words', pages: typedPages(set) }
      return []
    })
}

interface Body {
  readonly url?: string
  readonly articleBody?: string
}

function bodies(set: string): EvalPage[] {
  const truths = readJson(path.join(set, 'ground-truth.json')) as Record<string, Body>
  return Object.entries(truths).map(([id, { url, articleBody }]) => ({
    id,
    url: url || UNKNOWN_URL,
    type: 'article',
    truth: articleBody ?? '',
    html: htmlOf(set, id),
  }))
}

interface TypedTruth {
  readonly url?: string
  readonly ground_truth?: { readonly main_content?: string }
  readonly _internal?: { readonly page_type?: string | { readonly primary?: string } }
}

function typedPages(set: string): EvalPage[] {
  const files = readdirSync(path.join(set, 'ground-truth')).filter((file) => file.endsWith('.json'))
  return files.toSorted().map((file) => {
    const id = path.basename(file, '.json')
    const {
      url,
      ground_truth: truth,
      _internal: internal,
    } = readJson(path.join(set, 'ground-truth', file)) as TypedTruth
    const told = internal?.page_type
    const type = (typeof told === 'string' ? told : told?.primary) ?? 'article'
    return {
      id,
      url: url || UNKNOWN_URL,
      type: type === 'category' ? 'collection' : type,
      truth: truth?.main_content ?? '',
      html: htmlOf(set, id),
    }
  })
}

const UNKNOWN_URL = 'https://unknown.example/'

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))

const htmlOf = (set: string, id: string) => () =>
  gunzipSync(readFileSync(path.join(set, 'html', `${id}.html.gz`))).toString('utf8')
