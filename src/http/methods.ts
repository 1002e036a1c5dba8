import fp from 'fastify-plugin'

import { AppError } from '../errors.ts'

/**
 * Answers requests that have no route, before their body is read: 404, or 405 and 204 with the methods that the path
 * has. There is no CORS: the answer to OPTIONS lets no page of another origin in. Must come before the routes.
 */
export const methodsPlugin = fp(
  async (app) => {
    const routes = new Map<string, { readonly path: RegExp; readonly methods: Set<string> }>()

    app.addHook('onRoute', ({ url, method }) => {
      const route = routes.get(url) ?? { path: toPattern(url), methods: new Set() }
      for (const name of [method].flat()) route.methods.add(name)
      routes.set(url, route)
    })

    app.addHook('onRequest', async (request, reply) => {
      if (!request.is404) return
      const [path = ''] = request.url.split('?', 1)
      const fitting = [...routes.values()].filter((route) => route.path.test(path))
      const methods = new Set(fitting.flatMap((route) => [...route.methods]))
      if (methods.size === 0 || methods.has(request.method)) {
        throw new AppError('not_found', 'There is nothing at this URL.')
      }
      void reply.header('allow', [...methods, 'OPTIONS'].toSorted().join(', '))
      if (request.method === 'OPTIONS') {
        await reply.code(204).send()
        return
      }
      throw new AppError('method_not_allowed', `The path has no method ${request.method}.`, {
        hint: 'The Allow header lists those it has.',
      })
    })
  },
  { name: 'methods' },
)

/** What the router takes for this URL: a parameter is a segment, which may be empty, an asterisk is the rest. */
function toPattern(url: string): RegExp {
  const source = url
    .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replace(/\*$/, '.*')
    .replaceAll(/:\w+/g, '[^/]*')
  return new RegExp(`^${source}$`)
}
