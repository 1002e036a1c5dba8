import type { Behaviour } from './behaviour.ts'
import { GROUPS } from './behaviours.ts'

/** The tables of `docs/errors.md` that tell what the behaviours of the lab lead to. */
export const behaviourTables = (): string =>
  Object.entries(GROUPS)
    .map(([title, behaviours]) => `## ${title}\n\n${HEAD}\n${behaviours.map(row).join('\n')}\n`)
    .join('\n')

const HEAD = '| behaviour | what the server does | outcome | requests |\n| --- | --- | --- | --- |'

const row = ({ name, does, expected: { outcome, requests } }: Behaviour) =>
  `| \`${name}\` | ${does} | ${outcome === 'done' ? outcome : `\`${outcome}\``} | ${requests} |`
