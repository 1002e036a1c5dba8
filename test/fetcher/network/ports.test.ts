import { createServer } from 'node:http'

import { expect, it } from 'vitest'

import { systemClock as clock } from '../../../src/clock.ts'
import { createArchive } from '../../../src/fetcher/archive/archive.ts'
import { createGuard } from '../../../src/fetcher/network/guard.ts'
import { createHostTurns } from '../../../src/fetcher/network/host-turns.ts'
import { createRobots } from '../../../src/fetcher/robots/robots.ts'
import { createDeliverWebhook } from '../../../src/fetcher/webhook/deliver-webhook.ts'
import { rawServer, serve } from '../../helpers/raw-server.ts'
import { ALLOWED, testNetwork } from '../../helpers/test-network.ts'

/** A server whose port may be fetched from, and one whose port may not, at the same address. */
async function twoPorts() {
  await using stack = new AsyncDisposableStack()
  const closed = stack.use(await rawServer((socket) => socket.destroy()))
  const open = stack.use(
    await serve(
      createServer((request, response) => {
        if (request.url === '/page') response.end('page')
        else response.writeHead(302, { location: `${closed.origin}${request.url}` }).end()
      }),
      { host: '127.0.0.2' },
    ),
  )
  const guard = createGuard({ allow: ALLOWED, ports: new Set([open.port]) })
  const network = testNetwork({ guard })
  stack.defer(() => network.close())
  const stays = stack.move()
  return { open, closed, network, [Symbol.asyncDispose]: () => stays.disposeAsync() }
}

const signal = new AbortController().signal

it('hold for the first URL, and for where it redirects to', async () => {
  await using world = await twoPorts()
  const { open, closed, network } = world
  expect(await network.text(`${open.origin}/page`)).toBe('page')
  for (const url of [`${closed.origin}/page`, `${open.origin}/elsewhere`]) {
    expect(await network.refusal(url)).toMatchObject({
      code: 'blocked_port',
      message: `Port ${closed.port} is not fetched from.`,
    })
  }
  expect(closed.connections).toBe(0)
})

it('hold for webhooks', async () => {
  await using world = await twoPorts()
  const { open, closed, network } = world
  const deliver = createDeliverWebhook(network)
  const message = { headers: {}, body: '{}' }
  expect(await deliver({ url: `${open.origin}/page`, ...message }, signal)).toEqual({ status: 200 })
  expect(await deliver({ url: `${closed.origin}/page`, ...message }, signal)).toMatchObject({
    failure: { error: 'blocked_port' },
  })
  expect(closed.connections).toBe(0)
})

it.each([
  ['whose own port is not on the list', 'closed'],
  ['that redirects to one that is not', 'open'],
] as const)('hold for an archive %s', async (_, which) => {
  await using world = await twoPorts()
  const archive = createArchive({
    request: world.network.request,
    clock,
    archiveUrl: world[which].origin,
    isPublic: async () => true,
  })
  await expect(archive.captures('http://lost.example/', signal).next()).rejects.toThrow(
    `port ${world.closed.port} is not fetched from`,
  )
  expect(world.closed.connections).toBe(0)
})

it.each([
  ['of a site whose own port is not on the list', 'closed'],
  ['that redirects to one that is not', 'open'],
] as const)('hold for a robots.txt %s', async (_, which) => {
  await using world = await twoPorts()
  const { request } = world.network
  const turns = createHostTurns({ clock, gapMs: 0 })
  const robots = createRobots({ request, turns, clock, userAgent: 'pagehaul-test/0' })
  await robots.assertAllowed(new URL(`${world[which].origin}/page`), signal, () => 10_000)
  expect(world.closed.connections).toBe(0)
})
