import type { JobSummary, JobView, Submission, TargetView } from '../../src/jobs/schema.ts'

/** What the service answered: a status with its data, or with a problem. */
export interface Reply<T> {
  readonly status: number
  readonly headers: Headers
  readonly data: T | undefined
  readonly problem: Problem | undefined
}

export interface Problem {
  readonly type: string
  readonly status: number
  readonly code: string
  readonly detail: string
}

interface SubmitOptions {
  readonly prefer?: string
  /** Sent in place of the content type that the client would send. */
  readonly contentType?: string
  /** Sent in place of the body. */
  readonly rawBody?: string
}

/** Each operation of callers, by a generated client. The types are those of the service, so that the compiler compares. */
export interface Client {
  submit(submission: Submission, options?: SubmitOptions): Promise<Reply<JobView>>
  get(id: string, headers?: { readonly prefer?: string; readonly 'if-none-match'?: string }): Promise<Reply<JobView>>
  list(): Promise<Reply<{ jobs: JobSummary[]; next?: string }>>
  target(id: string, idx: number): Promise<Reply<TargetView>>
  content(id: string, idx: number, accept: string): Promise<Reply<string>>
  /** Outcomes as they come. */
  results(id: string): AsyncGenerator<TargetView>
  events(id: string): AsyncGenerator<TargetView | JobSummary>
  cancel(id: string): Promise<Reply<JobView>>
  retry(id: string): Promise<Reply<JobView>>
}

export interface Connection {
  readonly baseUrl: string
  readonly caller?: string
  readonly apiKey?: string
}

/** Reads JSON texts, one a line, from bytes that come in any pieces. */
export async function* readLines<T>(body: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as T
  }
}
