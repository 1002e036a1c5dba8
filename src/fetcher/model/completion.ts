import { member } from '../member.ts'
import { ModelError } from './model-error.ts'

/** What a model wrote. */
export interface Completion {
  readonly text: string
  /** Whether it wrote more than it may, and its end is missing. */
  readonly isCut: boolean
}

/** Thoughts that some models put in front of their answer. */
const THOUGHTS = /^\s*<think>[^]*?<\/think>/

/**
 * Reads a `chat.completion` object.
 * @throws {ModelError}
 */
export function readCompletion(body: Uint8Array): Completion {
  const choice = member(member(parse(body), 'choices'), '0')
  const content = member(member(choice, 'message'), 'content')
  if (member(choice, 'finish_reason') === 'content_filter') throw new ModelError('The model may not answer this.')
  if (typeof content !== 'string') throw new ModelError('The answer of the model holds no text.')
  const text = content.toWellFormed().replace(THOUGHTS, '').trim()
  if (text === '' || text.startsWith('<think>')) throw new ModelError('The answer of the model is empty.')
  return { text, isCut: member(choice, 'finish_reason') === 'length' }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString())
  } catch (cause) {
    throw new ModelError('The answer of the model is not JSON.', { cause })
  }
}
