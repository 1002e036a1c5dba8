import { type Behaviour, type Expected, triesOf } from './behaviour.ts'
import { GROUPS } from './behaviours.ts'

/** The tables of `docs/errors.md` that tell what the behaviours of the lab lead to. */
export const behaviourTables = (): string =>
  Object.entries(GROUPS)
    .map(([title, behaviours]) => `## ${title}\n\n${HEAD}\n${behaviours.map(row).join('\n')}\n`)
    .join('\n')

const HEAD = '| behaviour | what the server does | outcome | tries | requests |\n| --- | --- | --- | ---: | ---: |'

const row = ({ name, does, expected }: Behaviour) =>
  `| \`${name}\` | ${does} | ${outcomeOf(expected)} | ${triesOf(expected)} | ${expected.requests} |`

const outcomeOf = ({ outcome, hint }: Expected) =>
  outcome === 'done' ? outcome : `\`${outcome}\`${hint === undefined ? '' : `, hint: ${hint}`}`
