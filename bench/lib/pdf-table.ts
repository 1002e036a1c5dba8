import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

import { convert } from '../../src/fetcher/convert/convert.ts'
import { wordOrder, wordRecall } from './pdf-scores.ts'

/** The address that the documents are said to come from. */
const URL_OF_ALL = 'https://documents.example/'

/** Prints how many of the words of the PDF documents in a folder come out, and how far in order, as a Markdown table. */
export async function printPdfs(folder: string): Promise<void> {
  console.log('| document | words found | in order | ms |\n| --- | ---: | ---: | ---: |')
  const truths = readdirSync(path.join(folder, 'truth')).filter((file) => file.endsWith('.txt'))
  for (const name of truths.map((file) => path.basename(file, '.txt')).toSorted()) {
    const body = readIfThere(path.join(folder, `${name}.pdf`))
    if (!body) continue
    const truth = readFileSync(path.join(folder, 'truth', `${name}.txt`), 'utf8')
    const startedAt = performance.now()
    const conversion = await convert({ body, url: URL_OF_ALL, contentType: 'application/pdf', mode: 'text' })
    const ms = (performance.now() - startedAt).toFixed(0)
    const content = 'failure' in conversion ? '' : conversion.content
    const shares = [wordRecall(truth, content), wordOrder(truth, content)].map((share) => share.toFixed(3))
    console.log(`| ${[name, ...shares, ms].join(' | ')} |`)
  }
}

function readIfThere(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
