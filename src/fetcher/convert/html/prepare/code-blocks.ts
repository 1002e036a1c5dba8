import { all, ancestor, type DomDocument, type DomElement, isElement, isText, replace } from '../nodes.ts'

const TABLE = new Set(['table'])
const PRE = new Set(['pre'])
const GUTTER_CELLS = 'td.code pre,td.blob-code pre,td.rouge-code pre,td:last-child pre'
const GUTTERS = '.linenos,.lineno,.line-numbers-rows,.line-number,.gutter,.hljs-ln-numbers,[data-line-number]'
const LANGUAGE =
  /(?:^|\s)(?:language|lang|highlight-source|highlight-text-html|brush:?|sourceCode|code|prettyprint lang)[-\s]([A-Za-z0-9+#._-]{1,40})/i
const NOT_A_LANGUAGE = /^(?:block|toolbar|highlight|snippet|wrapper|container|example|box|copy)/i
const ALIASES: Readonly<Record<string, string>> = { shell: 'sh', basic: 'html' }

/**
 * Reduces every block of code to `<pre><code class="language-x">` with its exact text: highlighters wrap each word, and
 * name some of the wrappers "comment"; line numbers stand in columns of their own.
 */
export function normaliseCodeBlocks(document: DomDocument): void {
  for (const element of all(document, 'xmp,listing,plaintext'))
    replace(element, preOf(document, element.textContent ?? '', ''))
  for (const table of new Set(all(document, 'table pre').map((pre) => ancestor(pre, TABLE))))
    if (table) dropGutterColumn(table)
  for (const pre of all(document, 'pre')) {
    if (ancestor(pre, PRE)) continue
    replace(pre, preOf(document, codeText(pre), languageOf(pre)))
  }
}

/** Replaces a table of one row, line numbers and code, by its code. */
function dropGutterColumn(table: DomElement): void {
  const code = table.querySelector(GUTTER_CELLS)
  if (code && all(table, 'tr').length === 1 && all(table, 'td').length <= 2) replace(table, code)
}

function preOf(document: DomDocument, text: string, language: string): DomElement {
  const pre = document.createElement('pre')
  const code = document.createElement('code')
  code.textContent = text
  if (language !== '') code.setAttribute('class', `language-${language}`)
  pre.appendChild(code)
  return pre
}

/** What stands in the block, `br` as a line break, without line numbers in elements of their own. */
function codeText(pre: DomElement): string {
  for (const gutter of all(pre, GUTTERS)) if (/^[\d\s]*$/.test(gutter.textContent ?? '')) gutter.remove()
  let text = ''
  const stack = [pre.firstChild]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node === null) continue
    stack.push(node.nextSibling)
    if (isText(node)) text += node.data
    else if (isElement(node)) {
      if (node.localName === 'br') text += '\n'
      stack.push(node.firstChild)
    }
  }
  return text
}

/** The language that the block, its code or one of the two elements around it names. */
function languageOf(pre: DomElement): string {
  const outer = pre.parentElement
  for (const element of [pre.querySelector('code'), pre, outer, outer?.parentElement]) {
    const named = element?.getAttribute('data-lang') ?? element?.getAttribute('data-language')
    const classes = named ? `language-${named}` : (element?.getAttribute('class') ?? '')
    const language = LANGUAGE.exec(classes)?.[1]?.toLowerCase()
    if (language && !NOT_A_LANGUAGE.test(language)) return ALIASES[language] ?? language
  }
  return ''
}
