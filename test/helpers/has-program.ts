import { accessSync, constants } from 'node:fs'
import path from 'node:path'

/** Whether a program that comes with most systems, but not with all, is on the path of this one. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
