/** A change of a file that a power loss can undo in whole or in part, until a sync makes it durable. */
export type Change =
  | { readonly kind: 'write'; readonly name: string; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly name: string; readonly length: number }

/** A change of the folder. Names are those of its files. */
export type FolderChange = { readonly kind: 'create' | 'remove'; readonly name: string }

/** A system call on the files of the service. The name of the folder itself is empty. */
export type FileCall = Change | FolderChange | { readonly kind: 'sync'; readonly name: string }

/** Bytes that went to a socket, which is named by its inode. */
export interface Send {
  readonly kind: 'send'
  readonly socket: string
  readonly data: Buffer
}

export type Call = (FileCall | Send) & {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number
  /** The process died in this call, so that it may or may not have been made. */
  readonly isCutOff: boolean
}
