import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

import type { JobView, Target } from '../../src/jobs/schema.ts'
import { serveProxy } from '../helpers/connect-proxy.ts'
import { serveArchive } from '../helpers/fake-archive.ts'
import { type ModelAct, serveModel, writing } from '../helpers/fake-model.ts'
import { linesOf, watchTo } from '../helpers/outgoing-watch.ts'
import { type ServiceProcess, startService } from '../helpers/process.ts'
import { rawServer, serve as listen } from '../helpers/raw-server.ts'
import { type Route, serve } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { answering, serveSink } from '../helpers/webhook-sink.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))

/** What names resolve to; all others do not exist. */
const ZONE = {
  'site.example': ['127.0.0.2'],
  'good.test': ['127.0.0.2'],
  'archive.example': ['127.0.0.3'],
  'hooks.example': ['127.0.0.2'],
  'rules.example': ['127.0.0.2'],
  'inside.example': ['127.0.0.1'],
  'mixed.example': ['127.0.0.2', '127.0.0.1'],
}

/** A page that names another in every way that a browser would follow by itself. */
const pageNaming = (url: string) => `<!doctype html><html><head><title>Skerry Rock</title><base href="${url}/">
  <link rel="stylesheet" href="${url}/style.css"><link rel="prefetch" href="${url}/next"><script src="${url}/x.js"></script>
  <meta http-equiv="refresh" content="0; url=${url}/refreshed"></head><body><main><h1>Skerry Rock</h1>
  <p>The lamp was lit for the first time in 1843 by Ann Mackay, who kept it for thirty years.</p>
  <img src="${url}/image.png"><iframe src="${url}/frame"></iframe><object data="${url}/object"></object></main></body></html>`

const feedNaming = (url: string) => `<?xml version="1.0"?><?xml-stylesheet href="${url}/feed.xsl"?>
  <!DOCTYPE rss SYSTEM "${url}/rss.dtd" [<!ENTITY outer SYSTEM "${url}/entity">]>
  <rss version="2.0"><channel><title>Lamps</title><item><title>A lamp</title><description>&outer;</description></item></channel></rss>`

const redirecting =
  (location: string): Route =>
  (_, response) =>
    void response.writeHead(302, { location }).end()

/** Servers for every way out, and a trap on an address that is denied. `await using` ends them. */
async function serveWorld() {
  await using stack = new AsyncDisposableStack()
  const trap = stack.use(await rawServer((socket) => socket.destroy(), { host: '127.0.0.1' }))
  const landing = stack.use(
    await listen(
      createServer((_, response) => response.end('landed')),
      { host: '127.0.0.3' },
    ),
  )
  const redirects: Record<string, string> = {
    '/moved': `${landing.origin}/page`,
    '/to-metadata': 'http://169.254.169.254/latest/meta-data/',
    '/to-private': 'http://10.0.0.7/',
    '/to-trap': `${trap.origin}/`,
    '/to-inside': `http://inside.example:${trap.port}/`,
    '/to-mixed': `http://mixed.example:${trap.port}/`,
  }
  const astray = stack.use(
    await serve({
      '/robots.txt': redirecting(`${trap.origin}/robots.txt`),
      '/page': { type: 'text/html', body: pageNaming(trap.origin) },
    }),
  )
  const site = stack.use(
    await serve({
      '/robots.txt': { type: 'text/plain', body: 'User-agent: *\nDisallow: /no-robots\n' },
      '/page': { type: 'text/html', body: pageNaming(trap.origin) },
      '/feed': { type: 'application/rss+xml', body: feedNaming(trap.origin) },
      '/items.json': { type: 'application/json', body: '{"items":[{"name":"lamp"}]}' },
      ...Object.fromEntries(Object.entries(redirects).map(([path, location]) => [path, redirecting(location)])),
    }),
  )
  const secure = stack.use(
    await listen(
      createHttpsServer(
        { cert: readFileSync(fixture('good.pem')), key: readFileSync(fixture('good-key.pem')) },
        (_, response) => response.end('secret page'),
      ),
    ),
  )
  const toTrap: ModelAct = (response) =>
    response.writeHead(307, { location: `${trap.origin}/v1/chat/completions` }).end()
  const archive = stack.use(
    await serveArchive([{ at: '20210614093000', url: 'http://lost.example/', body: pageNaming(trap.origin) }], {
      host: '127.0.0.3',
      faults: { index: (response) => response.writeHead(302, { location: `${trap.origin}/cdx` }).end() },
    }),
  )
  const model = stack.use(await serveModel([writing('In 1843 [1].'), toTrap], { host: '127.0.0.1' }))
  const sink = stack.use(await serveSink(answering(307, { location: `${trap.origin}/hook` }), answering(200)))
  const stays = stack.move()
  return {
    trap,
    landing,
    astray,
    site,
    secure,
    archive,
    model,
    sink,
    [Symbol.asyncDispose]: () => stays.disposeAsync(),
  }
}

type World = Awaited<ReturnType<typeof serveWorld>>

/** Targets that go out by every door there is, and what becomes of each. */
function targetsIn({ trap, site, secure, astray }: World): [target: Target, outcome: string][] {
  const at = (path: string) => `http://site.example:${site.port}${path}`
  const question = 'When was the lamp lit for the first time?'
  return [
    [{ url: `${site.origin}/page`, options: { question } }, 'done'],
    [{ url: at('/page'), options: { mode: 'full', question } }, 'done'],
    [{ url: at('/feed') }, 'done'],
    [{ url: at('/items.json'), options: { jq: '.items[].name', grep: 'lamp' } }, 'done'],
    [{ url: at('/moved') }, 'done'],
    [{ url: at('/no-robots') }, 'robots_denied'],
    [{ url: `http://rules.example:${astray.port}/page` }, 'done'],
    [{ url: `https://good.test:${secure.port}/` }, 'done'],
    [{ url: 'http://lost.example/', options: { recover: true } }, 'done'],
    [{ url: 'http://astray.example/', options: { recover: true } }, 'dns_not_found'],
    [{ url: at('/to-metadata') }, 'blocked_address'],
    [{ url: at('/to-private') }, 'blocked_address'],
    [{ url: at('/to-trap') }, 'blocked_address'],
    [{ url: at('/to-inside') }, 'blocked_address'],
    [{ url: at('/to-mixed') }, 'blocked_address'],
    [{ url: `${trap.origin}/` }, 'blocked_address'],
    [{ url: `http://inside.example:${trap.port}/` }, 'blocked_address'],
  ]
}

/** Settings that programs in general take for an order to use a proxy. */
function proxySettings(url: string): NodeJS.ProcessEnv {
  const names = [
    'http_proxy',
    'https_proxy',
    'all_proxy',
    'npm_config_proxy',
    'npm_config_https_proxy',
    'npm_config_http_proxy',
  ]
  const all = [
    ...names,
    ...names.map((name) => name.toUpperCase()),
    'GLOBAL_AGENT_HTTP_PROXY',
    'GLOBAL_AGENT_HTTPS_PROXY',
  ]
  return { ...Object.fromEntries(all.map((name) => [name, url])), NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' }
}

/** Runs a service that uses everything, to its end. Gives what went out, as lines without repetition. */
async function run(
  world: World,
  env: NodeJS.ProcessEnv,
): Promise<{ job: JobView; told: JobView; lines: string[]; log: string }> {
  using temp = tempFolder()
  const { trap, archive, model, sink } = world
  const watch = watchTo(temp.file('outgoing'), ZONE)
  const service = await startService(
    {
      DATABASE_URL: `file:${temp.file('jobs.db')}`,
      LOG_LEVEL: 'trace',
      NODE_EXTRA_CA_CERTS: fixture('ca.pem'),
      PAGEHAUL_GUARD_ALLOW: '127.0.0.2/32,127.0.0.3/32',
      PAGEHAUL_ARCHIVE_URL: archive.origin.replace('127.0.0.3', 'archive.example'),
      PAGEHAUL_ROBOTS: 'obey',
      PAGEHAUL_LLM_BASE_URL: model.baseUrl,
      PAGEHAUL_LLM_MODEL: 'small-model',
      PAGEHAUL_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 'secret').toString('base64')}`,
      ...proxySettings(trap.origin),
      ...env,
    },
    [process.execPath, watch, 'src/main.ts'],
  )
  let log = ''
  for (const output of [service.child.stdout, service.child.stderr]) {
    output?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  }
  const targets = targetsIn(world).map(([target]) => target)
  const hook = (host: string, port: number) => ({ url: `http://${host}:${port}/hook` })
  const first = await service.submit({ targets, webhook: hook('hooks.example', sink.port) })
  await sink.at(0)
  const job = await ended(service, first.body.id)
  const second = await service.submit({
    targets: [{ url: `${world.site.origin}/items.json` }],
    webhook: hook('inside.example', trap.port),
  })
  const told = await ended(service, second.body.id, ({ webhook }) => webhook?.state !== 'pending')
  await service.stop('SIGTERM')
  return { job, told, lines: linesOf(temp.file('outgoing')), log }
}

async function ended(
  service: ServiceProcess,
  id: string,
  isEnough: (job: JobView) => boolean = () => true,
): Promise<JobView> {
  for (;;) {
    const job = await service.get(id)
    if (job.status !== 'running' && isEnough(job)) return job
  }
}

function expectOutcomes(world: World, { job, told }: Awaited<ReturnType<typeof run>>): void {
  const outcomes = job.targets.map(({ url, error, status, message }) => ({ url, outcome: error ?? status, message }))
  expect(outcomes).toMatchObject(targetsIn(world).map(([{ url }, outcome]) => ({ url, outcome })))
  expect(job.targets[0]?.result?.meta.answer?.method).toBe('model')
  expect(job.targets[1]?.result?.meta.answer?.method).toBe('bm25')
  const of = (url: string) => job.targets.find((target) => target.url === url)
  expect(of('http://lost.example/')?.result?.meta.recovered?.archive).toMatch(/^archive\.example:/)
  expect(of('http://astray.example/')?.message).toContain('the host is a loopback address')
  expect(told.webhook).toMatchObject({
    state: 'failed',
    attempts: 1,
    last_error: expect.stringMatching(/^blocked_address/),
  })
  expect(world.site.hits).toContain('/robots.txt')
  expect(world.astray.hits).toEqual(['/robots.txt', '/page'])
  expect(world.trap.connections).toBe(0)
}

/** Children have started, and have nothing to tell but that. */
function expectQuietChildren(lines: readonly string[]): void {
  const told = lines.filter((line) => line.startsWith('child '))
  expect(told).toEqual([expect.stringMatching(/^child started .*child\.ts$/)])
}

/** Names looked up: each once, but for the literals and what the guard refuses before. */
const NAMES = [
  'archive.example',
  'astray.example',
  'good.test',
  'hooks.example',
  'inside.example',
  'lost.example',
  'mixed.example',
  'rules.example',
  'site.example',
]

it('would see whatever a child did', async () => {
  using temp = tempFolder()
  await using server = await rawServer((socket) => socket.end())
  const child = `
    require('node:net').connect(${server.port}, '127.0.0.2').on('error', () => {})
    require('node:dns').lookup('child.example', () => {})
    require('node:dns').promises.resolve4('records.example').catch(() => {})
    new (require('node:dns').promises.Resolver)().resolve6('resolver.example').catch(() => {})
    require('node:dgram').createSocket('udp4').send('x', 9, '127.0.0.2', (error, bytes) => process.exit())`
  const parent = `require('node:child_process').spawn(process.execPath, ['--permission', '--eval', ${JSON.stringify(child)}])`
  const watch = watchTo(temp.file('outgoing'))
  await promisify(execFile)(process.execPath, [watch, '--eval', parent])
  expect(linesOf(temp.file('outgoing'))).toEqual([
    'child name child.example',
    'child name records.example',
    'child name resolver.example',
    'child started ',
    `child tcp 127.0.0.2:${server.port}`,
    'child udp bind',
    'child udp send',
  ])
}, 60_000)

it('goes out to what was asked for and to nothing else, whatever proxies the environment names', async () => {
  await using world = await serveWorld()
  const { landing, astray, site, secure, archive, model, sink } = world
  const result = await run(world, {})
  expectOutcomes(world, result)
  expectQuietChildren(result.lines)
  const endpoints = [site, landing, astray, secure, archive, model, sink].map(({ origin }) => new URL(origin).host)
  expect(result.lines.filter((line) => line.startsWith('service '))).toEqual(
    [
      'service started main.ts',
      ...NAMES.map((name) => `service name ${name}`),
      ...endpoints.map((endpoint) => `service tcp ${endpoint}`),
    ].toSorted(),
  )
}, 120_000)

it('goes out to nothing but the egress proxy and the model if there is one', async () => {
  await using world = await serveWorld()
  await using proxy = await serveProxy()
  const { landing, astray, site, secure, archive, model, sink } = world
  const result = await run(world, { PAGEHAUL_EGRESS_PROXY: proxy.url.replace('//', '//name:pass-word@') })
  expectOutcomes(world, result)
  expectQuietChildren(result.lines)
  expect(result.lines.filter((line) => line.startsWith('service '))).toEqual(
    [
      'service started main.ts',
      ...NAMES.map((name) => `service name ${name}`),
      `service tcp ${new URL(proxy.url).host}`,
      `service tcp ${new URL(model.origin).host}`,
    ].toSorted(),
  )
  const endpoints = [site, landing, astray, secure, archive, sink].map(({ origin }) => new URL(origin).host)
  expect([...new Set(proxy.asked)].toSorted()).toEqual(endpoints.toSorted())
  expect(proxy.headers[0]).toHaveProperty('proxy-authorization')
  expect(result.log).toContain('request finished')
  expect(result.log).not.toMatch(new RegExp(`pass-word|${Buffer.from('name:pass-word').toString('base64')}`))
}, 120_000)
