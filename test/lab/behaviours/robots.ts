import { message, send } from '../answers.ts'
import type { Answer, Behaviour } from '../behaviour.ts'

const text = (status: string, body: string) => message(status, ['Content-Type: text/plain'], body)
const page = text('200 OK', 'the page')

/** Answers the request for robots.txt with one thing, every other with a page. */
const robots =
  (file: Buffer): Answer =>
  (socket, { path }) =>
    send(socket, path === '/robots.txt' ? file : page)

/** What sites ask of programs, where the service is set to obey it. */
export const ROBOTS: readonly Behaviour[] = (
  [
    {
      name: 'robots-disallow',
      does: 'Has a robots.txt that disallows everything.',
      answer: robots(text('200 OK', 'User-agent: *\nDisallow: /\n')),
      expected: { outcome: 'robots_denied', requests: 1 },
    },
    {
      name: 'robots-allow',
      does: 'Has a robots.txt that allows this program what it disallows others.',
      answer: robots(text('200 OK', 'User-agent: *\nDisallow: /\n\nUser-agent: pagehaul-test\nAllow: /\n')),
      expected: { outcome: 'done', content: 'the page', requests: 2 },
    },
    {
      name: 'robots-not-found',
      does: 'Has no robots.txt.',
      answer: robots(text('404 Not Found', 'no')),
      expected: { outcome: 'done', content: 'the page', requests: 2 },
    },
    {
      name: 'robots-server-error',
      does: 'Answers 500 to the request for robots.txt.',
      answer: robots(text('500 Internal Server Error', 'oops')),
      expected: {
        outcome: 'robots_denied',
        requests: 3,
        tries: 3,
        hint: 'Nothing of a site is fetched while its robots.txt cannot be had; try again later.',
      },
    },
  ] satisfies Behaviour[]
).map((behaviour) => ({ ...behaviour, robots: 'obey' }))
