import { always, flood, head, message, send, textHead, thenClose } from '../answers.ts'
import type { Answer, Behaviour } from '../behaviour.ts'

const text = (status: string, body: string, ...fields: string[]) =>
  message(status, ['Content-Type: text/plain', ...fields], body)

/** Fails twice, then answers. */
const twice =
  (failure: Buffer, success: Buffer): Answer =>
  (socket, { nth }) =>
    send(socket, nth < 3 ? failure : success)

/** Answers by their status line. */
export const STATUSES: readonly Behaviour[] = [
  {
    name: 'echo',
    does: 'Answers with the path and query it was asked for.',
    answer: (socket, { path }) => send(socket, text('200 OK', path)),
    url: ({ origin }) => `${origin}/a/b?c=1&b=2&c=0#part`,
    expected: { outcome: 'done', content: '/a/b?c=1&b=2&c=0', requests: 1 },
  },
  {
    name: 'no-content',
    does: 'Answers 204, which has no body.',
    answer: always(head('204 No Content')),
    expected: { outcome: 'empty', requests: 1 },
  },
  {
    name: 'partial-content',
    does: 'Answers 206 with a part that nobody asked for.',
    answer: always(text('206 Partial Content', 'a part', 'Content-Range: bytes 0-5/100')),
    expected: { outcome: 'done', content: 'a part', requests: 1 },
  },
  {
    name: 'not-modified',
    does: 'Answers 304 although nothing was known before.',
    answer: always(head('304 Not Modified')),
    expected: { outcome: 'http_304', requests: 1 },
  },
  {
    name: 'many-choices',
    does: 'Answers 300 with a list of documents.',
    answer: always(text('300 Multiple Choices', 'this or that', 'Location: /this')),
    expected: { outcome: 'http_300', requests: 1 },
  },
  {
    name: 'unauthorized',
    does: 'Answers 401 and asks for a password.',
    answer: always(text('401 Unauthorized', 'no', 'WWW-Authenticate: Basic realm="x"')),
    expected: { outcome: 'http_401', requests: 1 },
  },
  {
    name: 'forbidden',
    does: 'Answers 403.',
    answer: always(text('403 Forbidden', 'no')),
    expected: { outcome: 'http_403', requests: 1 },
  },
  {
    name: 'not-found',
    does: 'Answers 404 with a long and friendly page.',
    answer: always(
      message('404 Not Found', ['Content-Type: text/html'], '<p>Not here, but look around.</p>'.repeat(50)),
    ),
    expected: { outcome: 'http_404', requests: 1 },
  },
  {
    name: 'gone',
    does: 'Answers 410.',
    answer: always(text('410 Gone', 'gone')),
    expected: { outcome: 'http_410', requests: 1 },
  },
  {
    name: 'request-timeout',
    does: 'Answers 408.',
    answer: always(text('408 Request Timeout', 'late')),
    expected: { outcome: 'http_408', requests: 3 },
  },
  {
    name: 'too-early',
    does: 'Answers 425.',
    answer: always(text('425 Too Early', 'early')),
    expected: { outcome: 'http_425', requests: 3 },
  },
  {
    name: 'too-many-requests',
    does: 'Answers 429 and asks for no wait.',
    answer: always(text('429 Too Many Requests', 'slower', 'Retry-After: 0')),
    expected: { outcome: 'http_429', requests: 3 },
  },
  {
    name: 'come-back-tomorrow',
    does: 'Answers 429 and asks for a wait of a day.',
    answer: always(text('429 Too Many Requests', 'tomorrow', 'Retry-After: 86400')),
    expected: { outcome: 'http_429', requests: 1, tries: 1 },
  },
  {
    name: 'server-error',
    does: 'Answers 500.',
    answer: always(text('500 Internal Server Error', 'oops')),
    expected: { outcome: 'http_500', requests: 3 },
  },
  {
    name: 'unavailable',
    does: 'Answers 503 with a page.',
    answer: always(message('503 Service Unavailable', ['Content-Type: text/html'], '<h1>Back soon</h1>')),
    expected: { outcome: 'http_503', requests: 3 },
  },
  {
    name: 'unavailable-twice',
    does: 'Answers 503 twice, then the page.',
    answer: twice(text('503 Service Unavailable', 'busy', 'Retry-After: 0'), text('200 OK', 'here it is')),
    expected: { outcome: 'done', content: 'here it is', requests: 3, tries: 3 },
  },
  {
    name: 'status-000',
    does: 'Answers with a status of three zeros.',
    answer: thenClose(text('000 Odd', 'x')),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'status-99',
    does: 'Answers with a status of two digits.',
    answer: thenClose(text('99 Odd', 'x')),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'status-999',
    does: 'Answers with a status that does not exist.',
    answer: always(text('999 Odd', 'x')),
    expected: { outcome: 'http_999', requests: 1 },
  },
  {
    name: 'status-1000',
    does: 'Answers with a status of four digits.',
    answer: thenClose(text('1000 Odd', 'x')),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'early-hints',
    does: 'Sends 103 before its answer.',
    answer: always(Buffer.concat([Buffer.from(head('103 Early Hints', 'Link: </a>')), text('200 OK', 'after hints')])),
    expected: { outcome: 'done', content: 'after hints', requests: 1 },
  },
  {
    name: 'continue',
    does: 'Sends 100 although nothing was to be continued.',
    answer: always(Buffer.concat([Buffer.from(head('100 Continue')), text('200 OK', 'went on')])),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'switching-protocols',
    does: 'Answers 101, and speaks something else from then on.',
    answer: always(head('101 Switching Protocols', 'Upgrade: websocket', 'Connection: upgrade')),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'early-hints-flood',
    does: 'Sends 103 again and again, and no answer.',
    answer: flood('', head('103 Early Hints', 'Link: </a>').repeat(100)),
    expected: { outcome: 'timeout', requests: 1 },
  },
  {
    name: 'http-0.9',
    does: 'Answers with a page and nothing before it.',
    answer: thenClose('<html><body>Hello</body></html>\r\n\r\n'),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'not-http',
    does: 'Speaks another protocol.',
    answer: thenClose('SSH-2.0-OpenSSH_9.6\r\n'),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'http-2',
    does: 'Answers with the frames of HTTP/2.',
    answer: thenClose(Buffer.from('000012040000000000000300000064000400100000000600004000', 'hex')),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'no-reason',
    does: 'Leaves the reason out of its status line.',
    answer: always('HTTP/1.1 200\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok'),
    expected: { outcome: 'done', content: 'ok', requests: 1 },
  },
  {
    name: 'bare-line-feeds',
    does: 'Ends the lines of its header without a carriage return.',
    answer: always('HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 2\n\nok'),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'empty-body',
    does: 'Answers 200 with a body of no bytes.',
    answer: always(textHead('Content-Length: 0')),
    expected: { outcome: 'empty', requests: 1 },
  },
]
