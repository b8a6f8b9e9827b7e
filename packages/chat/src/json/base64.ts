/** Base64 texts: their check, their bytes, and the text of bytes. */

/**
 * Whether a text is base64 as providers accept it: whole groups of four, padded, without line breaks.
 *
 * The text can be a long image: it is searched once and not decoded.
 */
export const isBase64 = (text: string): boolean => {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(padding === 0 ? text : text.slice(0, -padding))
}

/** The native codec of Node, Bun and Deno, which a browser lacks: it is many times as fast as `btoa`. */
const { Buffer: native } = globalThis as {
  readonly Buffer?: {
    readonly from: ((text: string, encoding: "base64") => Uint8Array) &
      ((
        bytes: ArrayBufferLike,
        offset: number,
        length: number
      ) => { readonly toString: (encoding: "base64") => string })
  }
}

/** The bytes of a base64 text. */
export const bytesOfBase64 = (text: string): Uint8Array => {
  if (native !== undefined) {
    const { buffer, byteOffset, byteLength } = native.from(text, "base64")
    return new Uint8Array(buffer, byteOffset, byteLength)
  }
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/** The number of bytes that are converted with one call. */
const together = 8_192

/** The base64 text of bytes. */
export const base64OfBytes = (bytes: Uint8Array): string => {
  if (native !== undefined) return native.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
  let binary = ""
  for (let at = 0; at < bytes.length; at += together) {
    binary += String.fromCharCode(...bytes.subarray(at, at + together))
  }
  return btoa(binary)
}
