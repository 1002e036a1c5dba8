import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'

import { buildService } from '../helpers/service.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

describe('rule 3: running when the answer leaves', () => {
  it('answers with a running job, which the file holds', async () => {
    using temp = tempFolder()
    await using service = await buildService({ file: temp.file('jobs.db') })
    const { body } = await service.submit(['a'])
    expect(body).toMatchObject({ status: 'running', started_at: body.created_at, targets: [{ status: 'pending' }] })
    using reader = openReader(temp.file('jobs.db'))
    expect(reader.all('SELECT id, status FROM job')).toEqual([{ id: body.id, status: 'running' }])
  })

  it('can be read by anyone who has the answer, at once', async () => {
    await using service = await buildService({ jobsPerCallerMax: 100, jobsTotalMax: 100 })
    for (let round = 0; round < 50; round++) {
      const { body } = await service.submit([`t${round}`])
      expect((await service.get(body.id)).body).toMatchObject({ id: body.id, status: 'running' })
    }
  })
})

function openReader(file: string) {
  const db = new Database(file, { readonly: true })
  return { all: (sql: string) => db.prepare(sql).all(), [Symbol.dispose]: () => db.close() }
}
