import { createHash } from 'node:crypto'

import type { ErrorDescription } from './error-description.ts'

const STYLE =
  'body{max-width:40rem;margin:3rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}code{font-size:1.1em}'
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** Content-Security-Policy of `errorPage`: nothing runs, nothing is loaded, nobody frames it. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The description as a page of HTML that refers to nothing. */
export function errorPage({ code, kind, title, status, meaning, remedy }: ErrorDescription): string {
  const where =
    kind === 'target' ? 'The <code>error</code> of a target that failed.' : `A response with status ${status}.`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${toHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${toHtml(title)}</h1>
<p><code>${toHtml(code)}</code></p>
<p>${where}</p>
<h2>What it means</h2>
<p>${toHtml(meaning)}</p>
<h2>What to do</h2>
<p>${toHtml(remedy)}</p>
</body>
</html>
`
}

/** Escapes text for HTML; what stands in backticks becomes code. */
function toHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}
