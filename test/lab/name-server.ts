import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'

import { parseIp } from '../../src/ip.ts'

/** What the name server says of a name. */
export type Reply =
  | { readonly addresses: readonly string[]; readonly aliases?: readonly string[] }
  | 'no such name'
  | 'server failure'
  | 'refused'
  | 'garbage'
  | 'silence'

/** By how often the name was asked for before, each kind of address counted by itself, and which kind is asked for. */
export type Answers = (asked: number, family: 4 | 6) => Reply

const RESPONSE_CODES = { 'server failure': 2, 'no such name': 3, refused: 5 } as const
const TYPE_A = 1
const TYPE_CNAME = 5
const TYPE_AAAA = 28
const CLASS_IN = 1
const HEADER_BYTES = 12

interface Question {
  readonly id: Buffer
  readonly name: string
  readonly type: number
  /** The question as it was asked, which the answer repeats. */
  readonly bytes: Buffer
}

/** A name server on a free UDP port of 127.0.0.1. It knows these names, in lower case, and no other. */
export async function startNameServer(zone: Readonly<Record<string, Answers>>) {
  const socket = createSocket('udp4')
  const asked = new Map<string, number>()
  socket.on('message', (message, { address, port }) => {
    const question = parseQuestion(message)
    const key = `${question.type} ${question.name}`
    const before = asked.get(key) ?? 0
    asked.set(key, before + 1)
    const reply = zone[question.name]?.(before, question.type === TYPE_AAAA ? 6 : 4) ?? 'no such name'
    if (reply !== 'silence') socket.send(encode(question, reply), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    /** For `setServers` of a resolver. */
    address: `127.0.0.1:${socket.address().port}`,
    /** How often the addresses of IPv4 of a name were asked for. */
    asked: (name: string) => asked.get(`${TYPE_A} ${name}`) ?? 0,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function parseQuestion(message: Buffer): Question {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const end = at + 1 + 4 // Type and class follow the empty label.
  return {
    id: message.subarray(0, 2),
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    bytes: message.subarray(HEADER_BYTES, end),
  }
}

function encode(question: Question, reply: Exclude<Reply, 'silence'>): Buffer {
  if (reply === 'garbage') return Buffer.concat([question.id, Buffer.from('no answer at all')])
  const records = typeof reply === 'string' ? [] : recordsOf(question, reply)
  const header = Buffer.alloc(HEADER_BYTES)
  question.id.copy(header)
  // A response, of one that has authority and recurses, to a question that asked for it.
  header.writeUInt16BE(0x8580 | (typeof reply === 'string' ? RESPONSE_CODES[reply] : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, question.bytes, ...records])
}

/** Each alias leads to the next, the last one to the addresses. */
function recordsOf({ name, type }: Question, { addresses, aliases = [] }: Exclude<Reply, string>): Buffer[] {
  const names = [name, ...aliases]
  const chain = aliases.map((alias, index) => record(names[index] ?? name, TYPE_CNAME, encodeName(alias)))
  const wanted = addresses.filter((address) => (isIPv6(address) ? TYPE_AAAA : TYPE_A) === type)
  return [...chain, ...wanted.map((address) => record(names.at(-1) ?? name, type, encodeAddress(address)))]
}

function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10) // Type, class, a lifetime of none, and the length of the data.
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(CLASS_IN, 2)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(name), fixed, data])
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCodePoint(label.length)}${label}`, 'latin1'))
  return Buffer.concat([...labels, Buffer.alloc(1)])
}

function encodeAddress(address: string): Buffer {
  const ip = parseIp(address)
  if (ip === undefined) throw new Error(`Not an address: ${address}`)
  return Buffer.from(ip.bits.toString(16).padStart(ip.family === 4 ? 8 : 32, '0'), 'hex')
}
