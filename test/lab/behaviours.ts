import type { Behaviour } from './behaviour.ts'
import { CONNECTIONS } from './behaviours/connections.ts'
import { CONTENT } from './behaviours/content.ts'
import { ENCODINGS } from './behaviours/encodings.ts'
import { FRAMING } from './behaviours/framing.ts'
import { NAMES } from './behaviours/names.ts'
import { REDIRECTS } from './behaviours/redirects.ts'
import { ROBOTS } from './behaviours/robots.ts'
import { STATUSES } from './behaviours/statuses.ts'
import { TLS } from './behaviours/tls.ts'

/** Every behaviour of the lab, by group. The tests and `docs/errors.md` read this table. */
export const GROUPS = {
  'Names and addresses': NAMES,
  Connections: CONNECTIONS,
  TLS,
  'Status lines': STATUSES,
  'Headers and lengths': FRAMING,
  'Content codings': ENCODINGS,
  Redirects: REDIRECTS,
  Content: CONTENT,
  'robots.txt, with `PAGEHAUL_ROBOTS=obey`': ROBOTS,
} as const satisfies Record<string, readonly Behaviour[]>

export const BEHAVIOURS: readonly Behaviour[] = Object.values(GROUPS).flat()
