import { describe, expect, it } from 'vitest'

import { AppError } from '../../src/errors.ts'
import { buildService } from '../helpers/service.ts'

describe('probes', () => {
  it('/livez answers while the process does', async () => {
    await using service = await buildService()
    expect((await service.app.inject('/livez')).json()).toEqual({ status: 'ok' })
  })

  it('/readyz writes to the store and reads it back', async () => {
    let probes = 0
    await using service = await buildService({
      wrapStore: (store) => ({ ...store, probe: () => store.probe().then(() => void probes++) }),
    })
    expect((await service.app.inject('/readyz')).statusCode).toBe(200)
    expect(probes).toBe(1)
  })

  it('/readyz answers 503 when the store cannot be written, and /livez still 200', async () => {
    await using service = await buildService({
      wrapStore: (store) => ({ ...store, probe: () => Promise.reject(new AppError('storage_full', 'Full.')) }),
    })
    const response = await service.app.inject('/readyz')
    expect(response.json()).toMatchObject({ status: 503, code: 'storage_full' })
    expect((await service.app.inject('/livez')).statusCode).toBe(200)
  })

  it('while stopping, /readyz and submissions answer 503 `shutting_down`, and jobs can still be read', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    service.jobs.stop()
    expect((await service.app.inject('/readyz')).json()).toMatchObject({ status: 503, code: 'shutting_down' })
    expect((await service.submit(['b'])).body).toMatchObject({ status: 503, code: 'shutting_down' })
    expect((await service.get(body.id)).status).toBe(200)
  })
})
