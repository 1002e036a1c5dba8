import { drip, head, message, send, textHead, thenClose, thenReset, thenSilence } from '../answers.ts'
import type { Behaviour } from '../behaviour.ts'

const PART = `${textHead('Content-Length: 10')}abc`
const CHUNKED = textHead('Transfer-Encoding: chunked')

/** Servers that are not there, keep silent, or break off. */
export const CONNECTIONS: readonly Behaviour[] = [
  {
    name: 'refused',
    does: 'Nothing listens on the port.',
    absent: 'not-there',
    expected: { outcome: 'connect_refused', requests: 0 },
  },
  {
    name: 'full-queue',
    does: 'Neither accepts the connection nor refuses it: its queue is full.',
    absent: 'queue-full',
    expected: { outcome: 'connect_timeout', requests: 0 },
  },
  {
    name: 'no-route',
    does: 'Has an address to which there is no route.',
    // The broadcast address of the loopback network: connecting to it fails at once, and nothing leaves the machine.
    url: ({ port }) => `http://127.255.255.255:${port}/`,
    expected: { outcome: 'unreachable', requests: 0 },
  },
  {
    name: 'silent',
    does: 'Accepts the connection and the request, and says nothing.',
    answer: thenSilence(''),
    expected: { outcome: 'timeout', requests: 1 },
  },
  {
    name: 'header-drip',
    does: 'Sends a header that never ends, a byte at a time.',
    answer: drip('HTTP/1.1 200 OK\r\nX-Long: ', 'x'),
    expected: { outcome: 'timeout', requests: 1 },
  },
  {
    name: 'body-drip',
    does: 'Sends a body that never ends, a byte at a time.',
    answer: drip(textHead(), 'x'),
    expected: { outcome: 'timeout', requests: 1 },
  },
  {
    name: 'chunk-drip',
    does: 'Sends chunks of a byte each, slowly and without end.',
    answer: drip(CHUNKED, '1\r\nx\r\n'),
    expected: { outcome: 'timeout', requests: 1 },
  },
  {
    name: 'silent-in-header',
    does: 'Stops in the middle of its header, and keeps the connection open.',
    answer: thenSilence('HTTP/1.1 200 OK\r\nContent-'),
    expected: { outcome: 'timeout', requests: 1 },
  },
  {
    name: 'silent-in-body',
    does: 'Stops in the middle of its body, and keeps the connection open.',
    answer: thenSilence(PART),
    expected: { outcome: 'timeout', requests: 1 },
  },
  {
    name: 'slow-page',
    does: 'Takes its time, and sends a whole page in the end.',
    answer: drip(CHUNKED, '1\r\nx\r\n', 10, '0\r\n\r\n'),
    expected: { outcome: 'done', content: 'xxxxxxxxxx', requests: 1 },
  },
  {
    name: 'reset-at-connect',
    does: 'Resets every connection as soon as it is open.',
    onConnection: (socket) => void socket.resetAndDestroy(),
    expected: { outcome: 'connection_closed', requests: 0 },
  },
  {
    name: 'reset-at-request',
    does: 'Resets the connection when the request has come.',
    answer: thenReset(''),
    expected: { outcome: 'connection_closed', requests: 3 },
  },
  {
    name: 'reset-in-status-line',
    does: 'Resets the connection in the middle of the status line.',
    answer: thenReset('HTTP/1.1 20'),
    expected: { outcome: 'connection_closed', requests: 3 },
  },
  {
    name: 'reset-in-header',
    does: 'Resets the connection in the middle of the header.',
    answer: thenReset('HTTP/1.1 200 OK\r\nContent-'),
    expected: { outcome: 'connection_closed', requests: 3 },
  },
  {
    name: 'reset-before-body',
    does: 'Resets the connection between header and body.',
    answer: thenReset(textHead('Content-Length: 10')),
    expected: { outcome: 'connection_closed', requests: 3 },
  },
  {
    name: 'reset-in-body',
    does: 'Resets the connection in the middle of the body.',
    answer: thenReset(PART),
    expected: { outcome: 'connection_closed', requests: 3 },
  },
  {
    name: 'reset-in-chunk',
    does: 'Resets the connection in the middle of a chunk.',
    answer: thenReset(`${CHUNKED}8\r\nabc`),
    expected: { outcome: 'connection_closed', requests: 3 },
  },
  {
    name: 'close-at-request',
    does: 'Closes the connection when the request has come.',
    answer: thenClose(''),
    expected: { outcome: 'connection_closed', requests: 3 },
  },
  {
    name: 'close-in-body',
    does: 'Closes the connection before the body has its length.',
    answer: thenClose(PART),
    expected: { outcome: 'connection_closed', requests: 3 },
  },
  {
    name: 'close-between-chunks',
    does: 'Closes the connection before the last chunk.',
    answer: thenClose(`${CHUNKED}3\r\nabc\r\n`),
    expected: { outcome: 'connection_closed', requests: 3 },
  },
  {
    name: 'close-after-answer',
    does: 'Promises to keep the connection open, and closes it after each answer.',
    answer: thenClose(message('200 OK', ['Content-Type: text/plain', 'Connection: keep-alive'], 'whole')),
    expected: { outcome: 'done', content: 'whole', requests: 1 },
  },
  {
    name: 'third-time-lucky',
    does: 'Resets the connection of the first two requests, and answers the third.',
    answer: (socket, { nth }) =>
      nth < 3
        ? void socket.resetAndDestroy()
        : send(socket, message('200 OK', ['Content-Type: text/plain'], 'at last')),
    expected: { outcome: 'done', content: 'at last', requests: 3, tries: 3 },
  },
  {
    name: 'old-http',
    does: 'Answers with HTTP/1.0 and no length, and closes the connection to end the body.',
    answer: thenClose('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold'),
    expected: { outcome: 'done', content: 'old', requests: 1 },
  },
  {
    name: 'failure-in-body',
    does: 'Answers 404, and resets the connection in the middle of its page.',
    answer: thenReset(`${head('404 Not Found', 'Content-Length: 10')}abc`),
    expected: { outcome: 'http_404', requests: 1 },
  },
]
