import { networkInterfaces } from 'node:os'

import { expect, it, onTestFinished } from 'vitest'

import { answering, serveProxy } from '../helpers/connect-proxy.ts'
import { linesOf, watchTo } from '../helpers/outgoing-watch.ts'
import { startService } from '../helpers/process.ts'
import { serve } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Addresses of this machine beside those of the loopback network. Not every machine has one. */
const OWN = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .filter(({ internal }) => !internal)
  .map(({ address }) => address)

/** Names of a metadata service, which lead to where anybody may go, and of what no setting opens. */
const ZONE = {
  'metadata.google.internal': ['127.0.0.2'],
  'metadata.example': ['169.254.169.254'],
  'machine.example': ['0.0.0.0', ...OWN],
}

/** Hosts that are refused whatever ranges are allowed. */
const REFUSED = [
  '0.0.0.0',
  '[::]',
  ...OWN.map((address) => (address.includes(':') ? `[${address}]` : address)),
  '169.254.169.254',
  '100.100.100.200',
  '[fd00:ec2::254]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  ...Object.keys(ZONE),
]

it('never goes to a metadata service nor to the machine of the service, whatever ranges are allowed', async () => {
  using temp = tempFolder()
  await using site = await serve({ '/page': { type: 'text/plain', body: 'A page.' } })
  const { host } = new URL(site.origin)
  // What a broken guard lets pass ends here: nothing leaves the machine.
  await using proxy = await serveProxy((authority) =>
    authority === host ? undefined : answering('HTTP/1.1 403 Forbidden\r\n\r\n'),
  )
  const service = await startService(
    {
      DATABASE_URL: ':memory:',
      PAGEHAUL_GUARD_ALLOW: '0.0.0.0/0,::/0',
      PAGEHAUL_EGRESS_PROXY: proxy.url,
      PAGEHAUL_TARGETS_PER_JOB: '1000',
    },
    [process.execPath, watchTo(temp.file('outgoing'), ZONE), 'src/main.ts'],
  )
  onTestFinished(() => void service.child.kill('SIGKILL'))
  const urls = [...REFUSED.map((name) => `http://${name}:${site.port}/page`), `${site.origin}/page`]
  const { body } = await service.submit({ targets: urls.map((url) => ({ url })) })
  const { targets } = await service.ended(body.id)
  expect(targets.map(({ url, error, status }) => [url, error ?? status])).toEqual(
    urls.map((url, index) => [url, index < REFUSED.length ? 'blocked_address' : 'done']),
  )
  expect(proxy.asked).toEqual([host])
  expect(linesOf(temp.file('outgoing')).filter((line) => line.startsWith('service tcp '))).toEqual([
    `service tcp ${new URL(proxy.url).host}`,
  ])
}, 60_000)
