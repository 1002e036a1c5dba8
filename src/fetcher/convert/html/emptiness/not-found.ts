import { BARE_WORDS_MAX, type Certainty, type PageSigns } from './page-signs.ts'
import { titleParts } from './titles.ts'

/** Words beside the heading up to which a page that says it does not exist is believed, and words up to which it is doubted. */
const OTHER_WORDS_MAX = 40
const DOUBT_WORDS_MAX = 150
/** Characters of a title, or a sentence, that says no more than this. */
const LENGTH_MAX = 90

const THING = '(?:page|site|url|file|document|content|article|story|post|address|path|resource)'
const NOT_FOUND = new RegExp(
  [
    '^(?:http )?(?:error|status|fehler|erreur|errore|erro|ошибка|błąd):? ?(?:code )?404(?:[\\s.!:-]*(?:error|not found|page|fehler|erreur))*[.!]?$',
    '^(?:http )?404(?:[\\s.!:-]*(?:error|not found|page|fehler|erreur))+[.!]?$',
    `^(?:(?:oops|sorry|uh oh|whoops|hmm+)\\W+)?(?:(?:the|this|that|your|requested|web) ?)*${THING}(?: you(?:'|’)?(?: a)?re looking for| you requested| requested)? (?:was |is |were |has |could |can ?)?(?:not ?(?:be )?found|not exist|(?:n?(?:'|’)?t|not) be (?:found|located)|unavailable|missing|gone|been (?:removed|deleted|moved))`,
    `\\b${THING}\\b.{0,40}(?:(?:can|could|was|does|is)(?:n?(?:'|’)t| ?not) (?:be )?(?:found|exist|here)|no longer (?:exists?|available|here))`,
    `^(?:(?:oops|sorry)\\W+)?(?:we|i) (?:can|could)(?:n?(?:'|’)t| ?not) (?:seem to )?find (?:that|this|the|your)\\b.{0,20}\\b${THING}\\b`,
    '(?:seite|dokument|inhalt|artikel) (?:wurde |konnte |ist )?(?:leider )?nicht (?:gefunden|vorhanden|verfügbar)|seite existiert nicht',
    "page (?:est |n(?:'|’)est pas |non |n(?:'|’)a pas été |n(?:'|’)existe )?(?:introuvable|trouvée|pas\\b|disponible)|page inexistante",
    'p[áa]gina (?:no|não) (?:encontrad[ao]|existe|disponible|foi encontrada|ha sido encontrada)|no se (?:ha )?encontr(?:ado|ó) la página|no encontramos la página',
    'pagina (?:non (?:è stata )?trovata|non esiste|niet gevonden|bestaat niet|nu (?:a fost|există)(?: găsită)?)',
    'страниц[аы] (?:не (?:найдена|существует)|удалена)|сторінк[ау] не знайдено',
    '(?:nie znaleziono|brak) (?:takiej )?strony|strona nie (?:istnieje|została znaleziona)|stránka (?:nenalezena|nebyla nalezena|neexistuje)',
    'sidan (?:kunde inte hittas|hittades inte|finns inte)|siden (?:blev ikke fundet|finnes ikke|ble ikke funnet|findes ikke)|fant ikke siden|sivua ei löyt?ytt?y?',
    'sayfa bulunamadı|az oldal nem található|η σελίδα δεν (?:βρέθηκε|υπάρχει)|không tìm thấy trang|halaman tidak ditemukan|ไม่พบหน้า',
    'ページが見つかりません|見つかりませんでした|页面(?:不存在|未找到|找不到)|找不到(?:页面|頁面|网页|網頁)|頁面不存在|페이지를 찾을 수 없|الصفحة (?:غير موجودة|المطلوبة غير)|(?:הדף|העמוד) (?:לא נמצא|אינו קיים)',
  ].join('|'),
  'iu',
)

/** What such a page may be called, and much else: numbers, codes, films. */
const MAYBE_NOT_FOUND = /^(?:(?:http )?404|not found|nothing (?:was )?found(?: here)?|nothing here)[.!]?$/i
const SENTENCE_END = /[.!?。]+/

/**
 * Whether the page says that there is no such page. Its title alone is not believed: the heading or a sentence must say
 * so, too, with little other prose; or there is nothing else.
 */
export function notFound({ titles, heading, proseWords, otherWords, prose }: PageSigns): Certainty | undefined {
  const parts = titleParts(titles)
  const isTitled = says(parts, NOT_FOUND) || says(parts, MAYBE_NOT_FOUND)
  if (!isTitled || proseWords > DOUBT_WORDS_MAX) return undefined
  if (otherWords <= BARE_WORDS_MAX) return 'sure'
  const isSaid = otherWords <= OTHER_WORDS_MAX && says(titleParts([heading, ...sentencesOf(prose)]), NOT_FOUND)
  return isSaid ? 'sure' : 'doubtful'
}

/** Lines and sentences: a sentence may run over several text nodes, and a block may end without a full stop. */
const sentencesOf = (prose: string): string[] => [
  ...prose.split('\n'),
  ...prose.replaceAll('\n', ' ').split(SENTENCE_END),
]

const says = (texts: readonly string[], phrase: RegExp): boolean =>
  texts.some((text) => text.length <= LENGTH_MAX && phrase.test(text))
