import { decodeEntities } from './entities.ts'

/** The look-behind keeps it from starting in the middle of a name, which would take quadratic time on a long one. */
const ATTRIBUTE = /(?<![^\s"'/])([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

interface Values {
  /** By their names as they stand in the document. */
  readonly exact: ReadonlyMap<string, string>
  /** Those with a prefix, by their names without it: the first of each. */
  readonly prefixed: ReadonlyMap<string, string>
}

/** The attributes of an element, read when the first one is asked for. */
export class XmlAttributes {
  readonly #source: string
  #values: Values | undefined

  /** @param source what stands in the tag behind the name. */
  constructor(source: string) {
    this.#source = source
  }

  /** The value of the attribute with this very name, or of the first with it behind a prefix. */
  get(name: string): string | undefined {
    return this.#read().exact.get(name) ?? this.#read().prefixed.get(name)
  }

  /** The value of the first attribute that has this name behind any prefix. */
  getPrefixed(name: string): string | undefined {
    return this.#read().prefixed.get(name)
  }

  /** Whether a name that contains `part` is possible at all; cheaper than to read the attributes. */
  mayHave(part: string): boolean {
    return this.#source.includes(part)
  }

  /** Each name as it stands in the document, with its value. */
  entries(): Iterable<readonly [string, string]> {
    return this.#read().exact
  }

  #read(): Values {
    this.#values ??= parse(this.#source)
    return this.#values
  }
}

function parse(source: string): Values {
  const exact = new Map<string, string>()
  const prefixed = new Map<string, string>()
  for (const [, name = '', double, single] of source.matchAll(ATTRIBUTE)) {
    const value = decodeEntities(double ?? single ?? '')
    const colon = name.indexOf(':')
    exact.set(name, value)
    if (colon >= 0 && !prefixed.has(name.slice(colon + 1))) prefixed.set(name.slice(colon + 1), value)
  }
  return { exact, prefixed }
}
