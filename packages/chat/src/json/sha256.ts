/**
 * The SHA-256 of bytes, at once: the Web Cryptography API has it only as a promise.
 *
 * SHA1. The digest is the same in every environment: of the native module where there is one, else of this file.
 *
 * @source FIPS 180-4
 */

const { process } = globalThis as {
  readonly process?: {
    readonly getBuiltinModule?: (name: "node:crypto") =>
      | {
          readonly createHash: (name: "sha256") => {
            readonly update: (bytes: Uint8Array) => { readonly digest: (encoding: "hex") => string }
          }
        }
      | undefined
  }
}

/** The SHA-256 of bytes, as 64 hexadecimal digits (SHA1). The native module is loaded with the first digest. */
export const sha256 = (bytes: Uint8Array): string =>
  process?.getBuiltinModule?.("node:crypto")?.createHash("sha256").update(bytes).digest("hex") ?? portableSha256(bytes)

/** The first 32 bits of the fractional part of a number. */
const fraction = (number: number): number => ((number - Math.floor(number)) * 2 ** 32) | 0

const isPrime = (number: number): boolean => {
  for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) return false
  return true
}

const primes = Array.from({ length: 310 }, (_, at) => at + 2).filter(isPrime)
const constants = Int32Array.from(primes.slice(0, 64), (prime) => fraction(Math.cbrt(prime)))
const first = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

/** The digest by this file alone. */
export const portableSha256 = (bytes: Uint8Array): string => {
  const whole = bytes.length - (bytes.length % 64)
  const end = new Uint8Array(bytes.length - whole < 56 ? 64 : 128)
  end.set(bytes.subarray(whole))
  end[bytes.length - whole] = 0x80
  const length = new DataView(end.buffer)
  length.setUint32(end.length - 8, Math.floor(bytes.length / 2 ** 29))
  length.setUint32(end.length - 4, (bytes.length * 8) % 2 ** 32)
  const hash = first.slice()
  const words = new Int32Array(64)
  addBlocks(hash, words, bytes.subarray(0, whole))
  addBlocks(hash, words, end)
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("")
}

const addBlocks = (hash: Int32Array, words: Int32Array, bytes: Uint8Array): void => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const at = (list: Int32Array, index: number): number => list[index] ?? 0
  for (let block = 0; block < bytes.length; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(block + 4 * i)
    for (let i = 16; i < 64; i++) {
      const [early, late] = [at(words, i - 15), at(words, i - 2)]
      const small = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)
      const large = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10)
      words[i] = at(words, i - 16) + small + at(words, i - 7) + large
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash
    for (let i = 0; i < 64; i++) {
      const mixed = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
      const one = (h + mixed + ((e & f) ^ (~e & g)) + at(constants, i) + at(words, i)) | 0
      const other = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + other) | 0]
    }
    ;[a, b, c, d, e, f, g, h].forEach((word, i) => (hash[i] = at(hash, i) + word))
  }
}
