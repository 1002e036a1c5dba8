import type { Socket } from 'node:net'

import type { TargetOptions } from '../../src/jobs/schema.ts'
import { isRetried, type TargetErrorCode } from '../../src/jobs/target-error.ts'
import type { Answers } from './name-server.ts'

/** A request as it came to the lab. */
export interface LabRequest {
  /** Path and query as they were sent. */
  readonly path: string
  /** From the request line to the empty line, a character for each byte. */
  readonly head: string
  /** Which request for this path it is, from 1. */
  readonly nth: number
}

/** Where things are in the lab. */
export interface Places {
  /** Address and origin of the behaviour itself. */
  readonly address: string
  readonly port: number
  readonly origin: string
  /** Origin of a server on an address that the guard denies. It counts who comes all the same. */
  readonly forbidden: string
}

/** Answers one request. The request ends when the returned promise resolves, or when its connection closes. */
export type Answer = (socket: Socket, request: LabRequest, places: Places) => void | Promise<void>

/** What the service makes of a behaviour. */
export interface Expected {
  /** Error code of the target; `done` if it has content. */
  readonly outcome: TargetErrorCode | 'done'
  /** For `done`: the content, or a part of it. */
  readonly content?: string | RegExp
  /** HTTP requests that reach the lab, those of redirects and further tries among them. */
  readonly requests: number
  /** Tries of the target. 3 without it if its code is one that is retried, 1 otherwise. */
  readonly tries?: number
  /** The hint, if it is a closer one than its code has. */
  readonly hint?: string
}

/** Tries that are expected. */
export const triesOf = ({ outcome, tries }: Expected): number =>
  tries ?? (outcome !== 'done' && isRetried(outcome) ? 3 : 1)

/** One way in which a server may treat its client. A row of the table in `docs/errors.md`. */
export interface Behaviour {
  /** In kebab-case. */
  readonly name: string
  /** What the server does, in one sentence for the document. */
  readonly does: string
  readonly expected: Expected
  /** The service obeys robots.txt. Without it, it does not ask for one. */
  readonly robots?: 'obey'
  /** Options of the target. */
  readonly options?: TargetOptions
  /** What is done to a connection as soon as it is there. */
  readonly onConnection?: (socket: Socket) => void
  /** Without it no request is answered. */
  readonly answer?: Answer
  /** Name of a certificate in `test/fixtures/tls`. Without one, plain HTTP is spoken. */
  readonly certificate?: string
  /** Name of the host, and what the name server says of it. Without it the host is an address. */
  readonly host?: { readonly name: string; readonly answers: (address: string) => Answers }
  /** The URL to fetch. The root of the server without it. */
  readonly url?: (places: Places) => string
  /** The server accepts nothing: it is not there, or its queue is full. */
  readonly absent?: 'not-there' | 'queue-full'
}
