const ESCAPES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
])

/** Text as it stands in HTML, in an element or in the quotes of an attribute. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => ESCAPES.get(sign) ?? sign)
