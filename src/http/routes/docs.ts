import swaggerUi from '@fastify/swagger-ui'
import type { FastifyPluginAsync } from 'fastify'

/**
 * Everything comes from here, scripts from files only. Images in `data:` URLs are in the style sheet of the page. There
 * is no `upgrade-insecure-requests`: the service speaks plain HTTP.
 */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

/** The API for people with a browser, made from the OpenAPI document. Loads nothing from elsewhere. Open to all. */
export const docsRoutes: FastifyPluginAsync = async (app) => {
  app.addHook('onSend', async (_request, reply) => {
    void reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer')
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: POLICY,
    theme: { title: 'pagehaul API' },
    uiConfig: { layout: 'BaseLayout', deepLinking: true },
  })
}
