// How much of the main text of saved pages comes out, beside plain Readability on the same pages, and how much of PDF
// documents. EVAL_DIR: a folder of page sets (see lib/page-sets.ts). PDF_DIR: PDF files, with `truth/<name>.txt`.
import { printPages } from './lib/page-table.ts'
import { printPdfs } from './lib/pdf-table.ts'

const { EVAL_DIR, PDF_DIR } = process.env
if (EVAL_DIR === undefined && PDF_DIR === undefined) throw new Error('Neither EVAL_DIR nor PDF_DIR names a folder.')
if (EVAL_DIR !== undefined) await printPages(EVAL_DIR)
if (PDF_DIR !== undefined) await printPdfs(PDF_DIR)
