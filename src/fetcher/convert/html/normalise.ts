import type { HeldText } from './held-text.ts'
import type { DomDocument } from './nodes.ts'
import { normaliseCodeBlocks } from './prepare/code-blocks.ts'
import { normaliseImages } from './prepare/images.ts'
import { resolveUrls } from './prepare/links.ts'
import { holdCheckboxes } from './prepare/lists.ts'
import { holdMath } from './prepare/math.ts'

/** Writes down what the search for the main content would take for scripts, controls or noise. Comes before it. */
export function normalise(document: DomDocument, pageUrl: string, base: string, held: HeldText): void {
  holdMath(document, held)
  normaliseCodeBlocks(document)
  holdCheckboxes(document, held)
  normaliseImages(document)
  resolveUrls(document, base, pageUrl)
}
