import { all, type DomDocument, type DomElement, isElement, isText, moveChildren, replace } from './nodes.ts'
import { plainText } from './plain-text.ts'

/** Characters of a `noscript` below which it is a notice and not a page. */
const NOSCRIPT_LENGTH_MIN = 200

/** Puts content in its place that a browser would move there, or that a page shows only to programs without scripts. */
export function repair(document: DomDocument): void {
  placeStreamedBlocks(document)
  showNoscriptPage(document)
}

/** React streams late parts of a page into `<div hidden id="S:n">`; a script moves them to `<template id="B:n">`. */
function placeStreamedBlocks(document: DomDocument): void {
  for (const block of all(document, 'div[hidden][id^="S:"]')) {
    const id = block.getAttribute('id') ?? ''
    const place = document.getElementById(`B:${id.slice('S:'.length)}`)
    const parent = place?.parentNode
    if (!place || !parent) block.removeAttribute('hidden')
    else {
      for (let child = block.firstChild; child !== null; child = block.firstChild) parent.insertBefore(child, place)
      place.remove()
      block.remove()
    }
  }
}

/** Shows a `noscript` that holds more text than the rest of the page, as forums send it to crawlers. */
function showNoscriptPage(document: DomDocument): void {
  const candidates = all(document.body, 'noscript')
    .map((element) => ({ element, length: noscriptText(element).length }))
    .filter(({ length }) => length > NOSCRIPT_LENGTH_MIN)
  if (candidates.length === 0) return
  const shown = plainText(document.body).length
  for (const { element, length } of candidates) {
    if (length <= shown) continue
    const block = document.createElement('div')
    moveChildren(element, block)
    replace(element, block)
  }
}

/** Text of the elements in a `noscript`, without what is only markup in the wrong place. */
function noscriptText(noscript: DomElement): string {
  let text = ''
  for (let child = noscript.firstChild; child !== null; child = child.nextSibling) {
    if (isElement(child)) text += `${plainText(child)}\n`
    else if (isText(child) && !/[<>]/.test(child.data)) text += child.data
  }
  return text.trim()
}
