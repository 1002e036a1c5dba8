import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A new folder under the system's temporary one. `using` removes it. */
export function tempFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), 'pagehaul-test-'))
  return {
    folder,
    file: (name: string) => path.join(folder, name),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
