import { expect, it } from 'vitest'

import { serve } from '../helpers/serve.ts'
import { wholeService } from '../helpers/whole-service.ts'

it('grep keeps the lines of any content that match, with what is around them if asked', async () => {
  const text = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`).join('\r\n')
  await using pages = await serve({
    '/text': { type: 'text/plain', body: text },
    '/long': { type: 'text/plain', body: `${'x'.repeat(4_000)}needle${'y'.repeat(4_000)}` },
    '/evil': { type: 'text/plain', body: `${'a'.repeat(100_000)}!` },
    '/html': { type: 'text/html', body: '<main><h1>Lamps</h1><p>A red lamp.</p><p>A bell.</p></main>' },
  })
  await using service = await wholeService()
  const at = (path: string, options: object) => service.outcome(pages.origin + path, options)

  expect((await at('/text', { grep: '^line 1[0-1]$' })).result).toMatchObject({
    content: 'line 10\nline 11',
    meta: { matches: 2 },
  })
  expect((await at('/text', { grep: ' (?:3|15)$', context: true })).result?.content).toBe(
    'line 1\nline 2\nline 3\nline 4\nline 5\n--\nline 13\nline 14\nline 15\nline 16\nline 17',
  )
  expect((await at('/text', { grep: 'nothing' })).result).toMatchObject({ content: '', meta: { matches: 0 } })
  expect((await at('/html', { grep: '(?i)LAMP' })).result?.content).toBe('# Lamps\nA red lamp.')
  expect((await at('/evil', { grep: '(a+)+$' })).result).toMatchObject({ content: '', meta: { matches: 0 } })
  const { content, meta } = (await at('/long', { grep: 'needle' })).result ?? {}
  expect(content).toMatch(/^…x+needley+…$/)
  expect(meta).toMatchObject({ matches: 1, warnings: ['Long lines are cut around their match.'] })
})
