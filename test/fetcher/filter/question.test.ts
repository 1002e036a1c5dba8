import { array, assert, boolean, constantFrom, oneof, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'

import { modelAnswer, quoteAnswer } from '../../../src/fetcher/answer.ts'
import { passagesOf } from '../../../src/fetcher/filter/question/passages.ts'
import { rankPassages } from '../../../src/fetcher/filter/question/rank-passages.ts'
import { areForms, wordsOf } from '../../../src/fetcher/filter/question/words.ts'

const FILLER = 'The harbour town is known for its market, where fish and bread are sold from early in the morning. '
const PAGE = `# Skerry Rock

${FILLER.repeat(3)}

## History

The lamp was lit for the first time in 1843 by Ann Mackay, who kept it for thirty years.

${FILLER.repeat(3)}

### Storms

In the winter of 1887 a storm broke every pane of the lantern room.

## Visiting

Boats leave the pier at nine. ${FILLER.repeat(3)}`

const rank = (content: string, question: string, context = false) =>
  rankPassages(content, question, { context, isMarkdown: true })

/** Markdown of every kind of block. */
const documents = array(
  oneof(
    constantFrom(
      '# One',
      '## Two',
      '### Three',
      '<!-- page 1 -->',
      '<!-- page 2 -->',
      '- a list\n- of words',
      '| a | b |',
    ),
    constantFrom('```js\n# no heading\n\nlamp()\n```', '```', '', 'The lamp was lit.', '灯塔在1843年点亮。'.repeat(30)),
    string({ unit: 'grapheme', maxLength: 60 }),
    constantFrom(FILLER.repeat(20), 'lamp'.repeat(600), '😀'.repeat(1_500)),
  ),
  { maxLength: 20 },
).map((blocks) => blocks.join('\n\n'))

describe('the passages of content', () => {
  it('follow one another, do not overlap, and leave out nothing but headings, marks and blanks', () => {
    assert(
      property(documents, boolean(), (content, isMarkdown) => {
        let rest = ''
        let at = 0
        for (const { start, end } of passagesOf(content, isMarkdown)) {
          expect(start).toBeGreaterThanOrEqual(at)
          expect(end).toBeGreaterThan(start)
          expect(content.slice(start, end).isWellFormed()).toBe(content.isWellFormed())
          rest += content.slice(at, start)
          at = end
        }
        rest += content.slice(at)
        const left = rest
          .split('\n')
          .filter((line) => /\S/.test(line) && !/^<!-- page \d+ -->$|^#{1,6}\s/.test(line.trim()))
        expect(left).toEqual([])
      }),
    )
  })

  it('are headings themselves where nothing stands below them', () => {
    const content = '# Opening hours\n\n## Monday 9 to 17\n\n## Sunday closed\n\n# Contact\n\nBy mail.'
    expect(passagesOf(content, true).map(({ start, end, heading }) => [content.slice(start, end), heading])).toEqual([
      ['# Opening hours', []],
      ['## Monday 9 to 17', ['Opening hours']],
      ['## Sunday closed', ['Opening hours']],
      ['By mail.', ['Contact']],
    ])
  })

  it('know their headings and pages', () => {
    const content = `<!-- page 1 -->\n\n# A *b* [c](/c)\n\none\n\n<!-- page 2 -->\n\ntwo\n\n## D\n\nthree\n\n# E\n\nfour`
    expect(passagesOf(content, true)).toMatchObject([
      { heading: ['A b c'], page: 1 },
      { heading: ['A b c'], page: 2 },
      { heading: ['A b c', 'D'], page: 2 },
      { heading: ['E'], page: 2 },
    ])
    expect(passagesOf('# not\n\na heading', false)).toMatchObject([{ heading: [] }])
  })
})

describe('a question', () => {
  it('finds the passage that answers it, with its place', () => {
    const [best] = rank(PAGE, 'When was the lamp lit for the first time?')
    expect(best).toMatchObject({ heading: ['Skerry Rock', 'History'] })
    expect(best?.quote).toContain('in 1843 by Ann Mackay')
    expect(rank(PAGE, 'What did the storm of 1887 break?')[0]).toMatchObject({
      quote: 'In the winter of 1887 a storm broke every pane of the lantern room.',
      heading: ['Skerry Rock', 'History', 'Storms'],
    })
  })

  it.each([
    ['Wann wurde die Lampe entzündet?', 'Die Lampe wurde 1843 entzuendet, und die Lampen brannten. Entzündete Lampen.'],
    ['灯塔什么时候点亮？', '灯塔在1843年点亮。'],
    ['Quand la lumière a-t-elle été allumée ?', 'La LUMIERE fut allumee en 1843.'],
    ['Когда зажгли маяк?', 'Маяки зажигали в 1843 году.'],
  ])('is understood without case, accents and endings: %s', (question, answer) => {
    expect(rank(`${FILLER.repeat(4)}\n\n# X\n\n${answer}\n\n# Y\n\n${FILLER.repeat(4)}`, question)[0]?.quote).toBe(
      answer,
    )
  })

  it('that shares no word with the page has no answer', () => expect(rank(PAGE, 'zebra?')).toEqual([]))

  it('is answered by at most five passages, best first', () => {
    const scores = rank(Array.from({ length: 30 }, (_, i) => `# S${i}\n\nlamp ${'x '.repeat(i)}`).join('\n\n'), 'lamp')
    expect(scores).toHaveLength(5)
    expect(scores.map(({ score }) => score)).toEqual(scores.map(({ score }) => score).toSorted((a, b) => b - a))
  })

  it('is answered in exact quotes: each span of the content is its quote, and each offset its place on the page', () => {
    const questions = constantFrom('When was the lamp lit?', '灯塔', 'fish and bread', '#', '😀', 'words of a list')
    assert(
      property(documents, questions, boolean(), (page, question, context) => {
        const ranked = rank(page, question, context)
        const quoted = quoteAnswer(ranked)
        const written = modelAnswer('Yes [2], or [1].', 'm', ranked)
        for (const { content, answer } of context ? [quoted, written] : [quoted]) {
          for (const { quote, offset, start, end } of answer.passages) {
            expect(content.slice(start, end)).toBe(quote)
            expect(page.slice(offset, offset + quote.length)).toBe(quote)
          }
        }
        expect(quoted.answer.passages).toHaveLength(ranked.length)
      }),
    )
  })

  it('is shown with a bounded piece of what is around it', () => {
    const page = `lamp\n\n## ${'x'.repeat(100_000)}\n\n## ${'y'.repeat(100_000)}\n\nbell`
    const { content } = quoteAnswer(rank(page, 'lamp bell', true))
    expect(content.length).toBeLessThan(10_000)
  })

  it('shows the passages around with context, overlapping ones once', () => {
    const page = ['# A', 'x '.repeat(150), 'lamp one', 'y '.repeat(150), 'lamp two', 'z '.repeat(150)].join('\n\n')
    const { content } = quoteAnswer(rank(page, 'lamp', true))
    expect(content.match(/lamp one/g)).toHaveLength(1)
    expect(content).toMatch(/x x[\s\S]*lamp one[\s\S]*y y[\s\S]*lamp two[\s\S]*z z/)
  })
})

it('the answer of a model comes with the passages that it cites, quoted only with context', () => {
  const ranked = rank(PAGE, 'lamp lit storm boats pier fish')
  expect(modelAnswer('By Ann [1].', 'tiny', ranked.slice(0, 1))).toEqual({
    content: 'By Ann [1].',
    answer: { method: 'model', model: 'tiny', passages: ranked.slice(0, 1) },
  })
  const { content } = modelAnswer('By Ann [1].', 'tiny', rank(PAGE, 'When was the lamp lit?', true).slice(0, 1))
  expect(content).toMatch(/^By Ann \[1\]\.\n\n\[1\] Skerry Rock › History\n\n[\s\S]*in 1843 by Ann Mackay/)
})

it.each([
  ['lamp', 'lamps', true],
  ['history', 'historical', true],
  ['маяк', 'маяки', true],
  ['lit', 'little', false],
  ['car', 'carpet', false],
  ['東京', '東京都', false],
])('%s and %s are forms of one word: %s', (a, b, forms) => expect(areForms(a, b)).toBe(forms))

it('words of unspaced scripts are compared in pairs of characters', () => {
  expect(wordsOf('Grüße, GRUESSE')).toEqual(['grusse', 'gruesse'])
  expect(wordsOf('東京都庁')).toEqual(expect.arrayContaining(['東京', '都庁']))
})
