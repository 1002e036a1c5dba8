declare module 'html-encoding-sniffer' {
  interface Options {
    readonly xml?: boolean
    readonly transportLayerEncodingLabel?: string
    readonly defaultEncoding?: string
    /** Not with `xml`. */
    readonly maxPrescanBytes?: number
  }
  /** @returns the WHATWG name of an encoding. */
  export default function sniff(bytes: Uint8Array, options?: Options): string
}
