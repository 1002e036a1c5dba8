/** The control characters that fonts with a broken encoding give. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g
/** Ligatures, Arabic letters in the shape they have in a word, radicals and signs of vertical text. */
const PRESENTATION_FORMS = /[\u2E80-\u2FDF\uF900-\uFDFF\uFE10-\uFE19\uFE30-\uFE4F\uFE70-\uFEFC]+/g
/** Radicals that Unicode has no normal form for, each before the letter that it looks like. */
const RADICALS =
  '⺜日⺝月⺟母⺠民⺩王⺫目⺬示⻁虎⻄西⻅见⻆角⻉贝⻋车⻓长⻔门⻘青⻙韦⻚页⻛风⻜飞⻝食⻢马⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻬齐⻮齿⻰龙'
const LETTER_OF = new Map(
  Array.from(RADICALS.matchAll(/(.)(.)/gu), ([, radical = '', letter = '']) => [radical, letter]),
)

/** The letters that were meant, where a font gives the shapes that it has for them. */
export const plainLetters = (text: string): string =>
  text
    .replaceAll(CONTROLS, '')
    .replaceAll(PRESENTATION_FORMS, (forms) =>
      Array.from(forms.normalize('NFKC'), (letter) => LETTER_OF.get(letter) ?? letter).join(''),
    )
