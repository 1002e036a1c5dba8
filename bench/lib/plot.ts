/** Lines over one axis of values. */
interface Panel {
  /** With the unit of the values. */
  readonly title: string
  readonly lines: readonly { readonly name: string; readonly points: readonly Point[] }[]
}
/** A time in seconds, and a value. */
export type Point = readonly [number, number]

export interface PlotOptions {
  readonly title: string
  readonly panels: readonly Panel[]
  /** Moments that matter, in seconds. */
  readonly marks: readonly { readonly at: number; readonly name: string }[]
}

const WIDTH = 860
const LEFT = 56
const RIGHT = 16
const TOP = 56
const PANEL_HEIGHT = 130
const PANEL_GAP = 46
const BOTTOM = 40
/** Told apart by their strokes, too. */
const STROKES = [
  { colour: '#1b5e9e', dash: '' },
  { colour: '#b4450f', dash: '6 3' },
  { colour: '#2e7d32', dash: '2 3' },
]
const INK = '#222'
const GRID = '#ddd'
/** Most parts of an axis. */
const TIME_PARTS = 10
const VALUE_PARTS = 4

/** An SVG of panels below each other over one axis of seconds. It brings its background, so it reads on a dark page, too. */
export function plot({ title, panels, marks }: PlotOptions): string {
  const height = TOP + panels.length * (PANEL_HEIGHT + PANEL_GAP) - PANEL_GAP + BOTTOM
  const points = panels.flatMap(({ lines }) => lines.flatMap((line) => line.points))
  const seconds = axis(Math.max(...points.map(([at]) => at)), TIME_PARTS)
  const x = (at: number) => round(LEFT + (at / seconds.end) * (WIDTH - LEFT - RIGHT))
  const bottom = height - BOTTOM
  const drawn = [
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    text(LEFT, 20, title, 'font-weight="bold"'),
    ...panels.map((panel, index) => drawPanel(panel, TOP + index * (PANEL_HEIGHT + PANEL_GAP), x)),
    ...marks.map(({ at, name }) => {
      const rule = `<path d="M${x(at)} ${TOP}V${bottom}" stroke="${INK}" stroke-dasharray="1 3"/>`
      return rule + text(x(at) + 4, TOP + 12, name)
    }),
    ...seconds.ticks.map((tick) => text(x(tick), bottom + 16, String(tick), 'text-anchor="middle"')),
    text(WIDTH - RIGHT, bottom + 32, 'seconds', 'text-anchor="end"'),
  ]
  const box = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`
  const font = `font-family="sans-serif" font-size="12" fill="${INK}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} ${font}>\n${drawn.join('\n')}\n</svg>\n`
}

function drawPanel({ title, lines }: Panel, top: number, x: (at: number) => number): string {
  const values = axis(Math.max(...lines.flatMap(({ points }) => points.map(([, value]) => value))), VALUE_PARTS)
  const y = (value: number) => round(top + PANEL_HEIGHT * (1 - value / values.end))
  const legend = lines.map(({ name }, index) => {
    const at = WIDTH - RIGHT - (lines.length - index) * 130
    return `<path d="M${at} ${top - 12}h24" ${stroke(index)}/>${text(at + 30, top - 8, name)}`
  })
  const grid = values.ticks.map(
    (tick) =>
      `<path d="M${LEFT} ${y(tick)}H${WIDTH - RIGHT}" stroke="${GRID}"/>${text(LEFT - 6, y(tick) + 4, String(tick), 'text-anchor="end"')}`,
  )
  const paths = lines.map(({ points }, index) => {
    const steps = points.map(([at, value]) => `${x(at)} ${y(value)}`)
    return `<path d="M${steps.join('L')}" fill="none" ${stroke(index)}/>`
  })
  return [text(LEFT, top - 8, title), ...grid, ...(lines.length > 1 ? legend : []), ...paths].join('\n')
}

/** An axis from 0 to the first round number that is not below `max`. */
function axis(max: number, parts: number): { ticks: number[]; end: number } {
  const rough = Math.max(max, 1e-9) / parts
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const count = Math.ceil(max / step)
  return {
    ticks: Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(6))),
    end: count * step,
  }
}

function stroke(index: number): string {
  const { colour, dash } = STROKES[index % STROKES.length] ?? { colour: INK, dash: '' }
  return `stroke="${colour}" stroke-width="1.5"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}`
}

function text(x: number, y: number, words: string, attributes = ''): string {
  return `<text x="${x}" y="${y}" ${attributes}>${words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
