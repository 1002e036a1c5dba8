import type { PageSigns } from './page-signs.ts'
import { titleParts } from './titles.ts'

/** Characters of a title that says no more than this. */
const TITLE_LENGTH_MAX = 90

const THING = '(?:page|site|url|file|document|content|article|story|post|address|path|resource)'
const NOT_FOUND = new RegExp(
  [
    '^(?:http )?(?:error|status|fehler|erreur|errore|erro|ошибка|błąd)?:? ?(?:code )?404(?:[\\s.!:-]*(?:error|not found|page|fehler|erreur))*[.!]?$',
    `^(?:(?:oops|sorry|uh oh|whoops|hmm+)\\W+)?(?:(?:the|this|that|your|requested|web) ?)*${THING}(?: you(?:'|’)?(?: a)?re looking for| you requested| requested)? (?:was |is |were |has |could |can ?)?(?:not ?(?:be )?found|not exist|(?:n?(?:'|’)?t|not) be (?:found|located)|unavailable|missing|gone|been (?:removed|deleted|moved))`,
    `\\b${THING}\\b.{0,40}(?:(?:can|could|was|does|is)(?:n?(?:'|’)t| ?not) (?:be )?(?:found|exist|here)|no longer (?:exists?|available|here))`,
    `^(?:(?:oops|sorry)\\W+)?(?:we|i) (?:can|could)(?:n?(?:'|’)t| ?not) (?:seem to )?find (?:that|this|the|your)\\b.{0,20}\\b${THING}\\b`,
    '^(?:not found|nothing (?:was )?found(?: here)?|nothing here)[.!]?$',
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

/** Whether the page's title, or its heading, says that there is no such page. */
export const saysNotFound = (signs: PageSigns): boolean =>
  titleParts(signs).some((part) => part.length <= TITLE_LENGTH_MAX && NOT_FOUND.test(part))
