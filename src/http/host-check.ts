import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import { AppError } from '../errors.ts'
import { parseIp } from '../ip.ts'

/** Host and optional port of a `Host` header (RFC 9110 §7.2); an IPv6 address stands in brackets. */
const HOST = /^(?:\[(?<six>[0-9a-f:.]+)\]|(?<name>[\w.-]+))(?::\d{0,5})?$/i
const LOOPBACK_NAME = /^(?:.+\.)?localhost$/
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface HostCheckOptions {
  /** Names of the service in lower case, beside its addresses and `localhost`; `*` for any. */
  readonly allowedHosts: readonly string[] | '*'
}

/**
 * Keeps web pages of others out, whose scripts run in browsers that may reach the service where they themselves cannot.
 * A page that has its own name point here (DNS rebinding) is told by that name, and a page that submits to another
 * origin (cross-site request forgery) by what browsers say of it.
 */
export const hostCheckPlugin = fp<HostCheckOptions>(
  async (app, { allowedHosts }) => {
    app.addHook('onRequest', async (request) => {
      const { host } = request.headers
      if (host !== undefined && allowedHosts !== '*' && !isAllowedHost(host, allowedHosts)) throw misdirected()
      if (!SAFE_METHODS.has(request.method) && isCrossOrigin(request)) throw crossOrigin()
    })
  },
  { name: 'host-check' },
)

/** An address is nobody's name: no one else can make it lead here. */
function isAllowedHost(host: string, allowedHosts: readonly string[]): boolean {
  const { six, name = '' } = HOST.exec(host)?.groups ?? {}
  if (six !== undefined) return parseIp(six)?.family === 6
  const lower = name.toLowerCase().replace(/\.$/, '')
  return parseIp(lower) !== undefined || LOOPBACK_NAME.test(lower) || allowedHosts.includes(lower)
}

/** `Sec-Fetch-Site` says it outright, but browsers send it to secure origins only. No other client sends either header. */
function isCrossOrigin({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && URL.parse(origin)?.host !== host?.toLowerCase()
}

function misdirected(): AppError {
  return new AppError('misdirected_request', 'The service does not go by the name in the Host header.', {
    hint: 'Use its address or `localhost`. Whoever runs it can add names with PAGEHAUL_ALLOWED_HOSTS, or set API keys.',
  })
}

function crossOrigin(): AppError {
  return new AppError('cross_origin', 'A web page of another origin cannot change anything here.', {
    hint: 'Send the request from a program, or from a page of the same origin.',
  })
}
