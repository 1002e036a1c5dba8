import { systemClock as clock } from '../../src/clock.ts'
import { createArchive } from '../../src/fetcher/archive/archive.ts'
import { createFetchTarget } from '../../src/fetcher/fetch-target.ts'
import { type ConverterOptions, createConverter } from '../../src/fetcher/isolation/converter.ts'
import { createProgramChecker } from '../../src/fetcher/isolation/program-checker.ts'
import type { Model } from '../../src/fetcher/model/model.ts'
import { createHostTurns } from '../../src/fetcher/network/host-turns.ts'
import type { NetworkOptions } from '../../src/fetcher/network/network.ts'
import { createPatientRequest } from '../../src/fetcher/patient-request.ts'
import { createRobots } from '../../src/fetcher/robots/robots.ts'
import { withDefaults } from '../../src/jobs/limits.ts'
import type { Target, TargetOptions, TargetView } from '../../src/jobs/schema.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { assemble, TARGET_TIMEOUT_MS } from './service.ts'
import { testNetwork, type Zone } from './test-network.ts'

/** How the service differs from one that is set as it is by default. */
export interface WholeServiceOptions {
  /** What host names resolve to. */
  readonly zone?: Zone
  readonly converter?: ConverterOptions
  /** How the network differs from that of other tests. */
  readonly network?: Partial<NetworkOptions>
  readonly archiveUrl?: string
  readonly isPublic?: (url: string) => Promise<boolean>
  readonly model?: Model
  readonly contentBytesMax?: number
  /** Milliseconds of a target in all. */
  readonly targetTimeoutMs?: number
  /** Milliseconds between two requests to one host. */
  readonly hostGapMs?: number
  /** Whether the robots.txt of sites counts; default no. */
  readonly robots?: 'obey'
}

/** The whole service, real to its child processes; only host names are made up. `await using` closes it. */
export async function wholeService(options: WholeServiceOptions = {}) {
  const {
    zone = {},
    archiveUrl,
    isPublic,
    model,
    contentBytesMax,
    targetTimeoutMs = TARGET_TIMEOUT_MS,
    hostGapMs = 0,
  } = options
  const turns = createHostTurns({ clock, gapMs: hostGapMs })
  const network = testNetwork({ zone, ...options.network })
  const converter = createConverter(options.converter)
  const checker = createProgramChecker()
  const store = openSqliteStore(':memory:')
  const { request } = network
  const archive = createArchive({
    request,
    clock,
    archiveUrl: archiveUrl ?? 'http://archive.example',
    isPublic: isPublic ?? (async () => false),
  })
  const patience = { request, turns, clock, random: () => 0 }
  const robots = options.robots === 'obey' ? createRobots({ ...patience, userAgent: 'pagehaul-test/0' }) : undefined
  const fetchTarget = createFetchTarget({
    request: createPatientRequest({ ...patience, admit: robots?.assertAllowed }),
    converter,
    archive,
    model,
    clock,
    contentBytesMax: contentBytesMax ?? 5_242_880,
    targetTimeoutMs,
  })
  const limits = withDefaults({ jobsPerCallerMax: 100, jobsTotalMax: 100 })
  const service = await assemble({ store, clock, fetchTarget, checkPrograms: checker.check, limits, targetTimeoutMs })

  /** The outcomes of a job that has ended. */
  const outcomes = async (targets: Target[], options?: TargetOptions): Promise<TargetView[]> => {
    const { status, body } = await service.submit({ targets, reuse: false, ...(options && { options }) })
    if (status !== 202) throw new Error(`The submission was refused: ${JSON.stringify(body)}`)
    await service.runner.idle()
    return (await service.get(body.id)).body.targets
  }
  return {
    ...service,
    network,
    outcomes,
    /** The outcome of one URL. */
    async outcome(url: string, options?: TargetOptions): Promise<TargetView> {
      const [outcome] = await outcomes([{ url, ...(options && { options }) }])
      if (outcome === undefined) throw new Error('The job has no target.')
      return outcome
    },
    async [Symbol.asyncDispose]() {
      await service.runner.close(0)
      await service.app.close()
      await Promise.all([converter.close(), checker.close(), network.close()])
      await store.close()
    },
  }
}
