import { always, flood, head, message, textHead, thenClose } from '../answers.ts'
import type { Behaviour } from '../behaviour.ts'

const PLAIN = textHead()
const CHUNKED = textHead('Transfer-Encoding: chunked')
const MEBIBYTE = 1024 * 1024

/** Headers and lengths that are wrong or without end. */
export const FRAMING: readonly Behaviour[] = [
  {
    name: 'header-flood',
    does: 'Sends header lines without end.',
    answer: flood('HTTP/1.1 200 OK\r\n', 'X-Many: abcdefghijklmnopqrstuvwxyz\r\n'.repeat(100)),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'header-line-flood',
    does: 'Sends one header line without end.',
    answer: flood('HTTP/1.1 200 OK\r\nX-Long: ', 'x'.repeat(4_096)),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'cookie-flood',
    does: 'Sends 2,000 cookies.',
    answer: always(textHead(...Array.from({ length: 2_000 }, (_, index) => `Set-Cookie: name${index}=value; Path=/`))),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'reason-flood',
    does: 'Sends a status line without end.',
    answer: flood('HTTP/1.1 200 ', 'x'.repeat(4_096)),
    expected: { outcome: 'timeout', requests: 1 },
  },
  {
    name: 'nameless-header',
    does: 'Sends a header line without a name.',
    answer: thenClose(head('200 OK', ': x')),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'announced-too-large',
    does: 'Announces a body of 200 MB.',
    answer: always(textHead(`Content-Length: ${200 * MEBIBYTE}`)),
    expected: { outcome: 'too_large', requests: 1 },
  },
  {
    name: 'endless-body',
    does: 'Sends a body without length and without end.',
    answer: flood(PLAIN, 'x'.repeat(65_536)),
    expected: { outcome: 'too_large', requests: 1 },
  },
  {
    name: 'endless-chunks',
    does: 'Sends chunks without end.',
    answer: flood(CHUNKED, `10000\r\n${'x'.repeat(65_536)}\r\n`),
    expected: { outcome: 'too_large', requests: 1 },
  },
  {
    name: 'tiny-chunks',
    does: 'Sends 100,000 chunks of a byte each.',
    answer: always(`${CHUNKED}${'1\r\nx\r\n'.repeat(100_000)}0\r\n\r\n`),
    expected: { outcome: 'done', content: /^x{100000}$/, requests: 1 },
  },
  {
    name: 'length-too-short',
    does: 'Sends more bytes than it announced.',
    answer: thenClose(`${textHead('Content-Length: 5')}12345 and more`),
    expected: { outcome: 'done', content: '12345', requests: 1 },
  },
  {
    name: 'length-not-a-number',
    does: 'Announces a length that is no number.',
    answer: thenClose(`${textHead('Content-Length: ten')}1234567890`),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'length-negative',
    does: 'Announces a length below zero.',
    answer: thenClose(`${textHead('Content-Length: -1')}x`),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'length-enormous',
    does: 'Announces a length of 30 digits.',
    answer: thenClose(`${textHead(`Content-Length: ${'9'.repeat(30)}`)}x`),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'two-lengths',
    does: 'Announces two lengths that contradict each other.',
    answer: thenClose(`${textHead('Content-Length: 1', 'Content-Length: 2')}ab`),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'same-length-twice',
    does: 'Announces the same length twice.',
    answer: thenClose(`${textHead('Content-Length: 2', 'Content-Length: 2')}ab`),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'length-and-chunks',
    does: 'Announces a length and sends chunks.',
    answer: thenClose(`${textHead('Content-Length: 3', 'Transfer-Encoding: chunked')}3\r\nabc\r\n0\r\n\r\n`),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'chunk-garbage',
    does: 'Sends a chunk whose length is no number.',
    answer: thenClose(`${CHUNKED}zz\r\nabc\r\n0\r\n\r\n`),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'chunk-enormous',
    does: 'Announces a chunk of 20 hexadecimal digits.',
    answer: thenClose(`${CHUNKED}${'f'.repeat(20)}\r\nabc`),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'chunk-extension-flood',
    does: 'Sends an extension of a chunk without end.',
    answer: flood(`${CHUNKED}1;`, 'x'.repeat(4_096)),
    expected: { outcome: 'timeout', requests: 1 },
  },
  {
    name: 'trailer-flood',
    does: 'Sends lines after the last chunk without end.',
    answer: flood(`${CHUNKED}1\r\nx\r\n0\r\n`, 'X-Many: abcdefghijklmnopqrstuvwxyz\r\n'.repeat(100)),
    expected: { outcome: 'bad_response', requests: 1 },
  },
  {
    name: 'answer-nobody-asked-for',
    does: 'Sends a second answer behind the first.',
    answer: always(Buffer.concat([message('200 OK', ['Content-Type: text/plain'], 'first'), message('200 OK')])),
    expected: { outcome: 'done', content: 'first', requests: 1 },
  },
]
