import fc from 'fast-check'
import { it } from 'vitest'

import { tempFolder } from '../helpers/temp-folder.ts'
import { openWorld, STEPS } from '../helpers/world.ts'

it('no view of a job ever contradicts itself, another view or what was told before, whatever happens and when', async () => {
  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      using temp = tempFolder()
      await using world = await openWorld(temp.file('jobs.db'))
      for (const step of steps) {
        if (step.do === 'restart') await world.take(step)
        else await Promise.all([world.take(step), ...world.witnesses.slice(-5).map((witness) => world.poll(witness))])
      }
      await world.end()
    }),
    { numRuns: Number(process.env.VIEW_RUNS ?? 20), endOnFailure: true },
  )
}, 110_000)
