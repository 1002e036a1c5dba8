/** A media type and its charset, in lower case, as far as a header gives them. */
export interface ContentType {
  /** `text/html`; undefined if the header is missing or no media type. */
  readonly essence: string | undefined
  /** As it stands in the header, without quotes. It may name no encoding there is. */
  readonly charset: string | undefined
}

const ESSENCE = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*(?:[;,]|$)/
const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s;,]+))/i

/** Reads a `Content-Type` header; a malformed one is read as far as it makes sense. */
export function parseContentType(header: string | undefined): ContentType {
  const essence = ESSENCE.exec(header ?? '')?.[1]?.toLowerCase()
  const [, double, single, bare] = CHARSET.exec(header ?? '') ?? []
  const charset = (double ?? single ?? bare)?.trim()
  return { essence, charset: charset === '' ? undefined : charset }
}
