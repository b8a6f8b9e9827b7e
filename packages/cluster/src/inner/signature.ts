/**
 * The signature of a request between nodes, and its check.
 *
 * Owns: the nonces of the requests of the last half minute. Does not own the secret, which all nodes share.
 *
 * SEAL1. A request is accepted only with a signature under the shared secret. It covers the protocol number, the method,
 *        the path, the address of the node that it is for, the time, a nonce, the note and the hash of the body.
 *        A node accepts only requests that are for its own address.
 * SEAL2. A signature is accepted at most once: a request that is older or newer than `freshMs`, or whose nonce was accepted
 *        before, is refused. So is one for an earlier run of the node's program: the signature covers the number of the run. A
 *        node of a former build signs no run. Its request is refused if it is older than the run, and is then signed again.
 * SEAL3. The number of kept nonces is bounded. A node whose table is full refuses requests until the oldest are too old.
 */
import { createHmac, hash, randomInt, randomUUID, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { mostNote } from "./limits.ts"

/** The number of the protocol between nodes. Nodes with different numbers refuse each other's requests. 2: HTTP/2. */
const protocol = 2

/** How far the time of a request may be from this node's time, in milliseconds. */
export const freshMs = 30_000

/** The numbers of runs are below. */
const runs = 2 ** 32

/** The most nonces that are kept. */
const mostNonces = 262_144

/** The parts of a request that its signature covers. */
export interface Signed {
  readonly method: string
  readonly path: string
  /** The address of the node that the request is for. */
  readonly to: string
  /** The run of that node, if it has sent its number. */
  readonly run?: number | undefined
  /** What the sender states about the request: who asks, and for what. */
  readonly note: string
  readonly bodyHash: string
}

const names = {
  protocol: "x-troupe-protocol",
  time: "x-troupe-time",
  nonce: "x-troupe-nonce",
  run: "x-troupe-run",
  note: "x-troupe-note",
  body: "x-troupe-body",
  signature: "x-troupe-signature"
} as const

/** The hash of a body, as it is signed. */
export const hashOf = (body: Uint8Array | undefined): string => hash("sha256", body ?? "")

const signatureOf = (secret: string, { method, path, to, run, note, bodyHash }: Signed, time: string, nonce: string) =>
  createHmac("sha256", secret)
    .update([protocol, method, path, to, time, nonce, note, bodyHash, ...(run === undefined ? [] : [run])].join("\n"))
    .digest()

/** The headers of a signed request. `now` is the present time in milliseconds of the epoch. */
export const seal = (secret: string, signed: Signed, now: number): Readonly<Record<string, string>> => {
  const time = String(Math.floor(now))
  const nonce = randomUUID()
  return {
    [names.protocol]: String(protocol),
    [names.time]: time,
    [names.nonce]: nonce,
    ...(signed.run === undefined ? {} : { [names.run]: String(signed.run) }),
    [names.note]: signed.note,
    [names.body]: signed.bodyHash,
    [names.signature]: signatureOf(secret, signed, time, nonce).toString("hex")
  }
}

/** Why a request is refused. After `busy`, it may be signed and sent again. */
export type Refusal = "protocol" | "signature" | "time" | "busy"

/** A checked request: its note, and the hash that its body must have. */
export type Checked = { readonly note: string; readonly bodyHash: string } | { readonly refused: Refusal }

/** Checks the signatures of the requests that one node receives. */
export class SignatureCheck {
  readonly #secret: string
  readonly #now: () => number
  readonly #most: number
  /** Each accepted nonce, and when it is too old to be accepted; the oldest first. */
  readonly #nonces = new Map<string, number>()
  readonly #since: number
  /** The number of this run. */
  readonly run = randomInt(1, runs)

  constructor(secret: string, now: () => number, most = mostNonces) {
    this.#secret = secret
    this.#now = now
    this.#most = most
    this.#since = Math.floor(now())
  }

  /** The number of kept nonces. */
  get size(): number {
    return this.#nonces.size
  }

  /** Checks the head of a request (SEAL1, SEAL2). */
  check(request: Pick<Signed, "method" | "path" | "to">, headers: IncomingHttpHeaders): Checked {
    const valueOf = (name: string): string => headers[name]?.toString() ?? ""
    if (valueOf(names.protocol) !== String(protocol)) return { refused: "protocol" }
    const time = valueOf(names.time)
    const nonce = valueOf(names.nonce)
    const note = valueOf(names.note)
    const bodyHash = valueOf(names.body)
    const run = headers[names.run] === undefined ? undefined : this.run
    const signature = Buffer.from(valueOf(names.signature), "hex")
    if (note.length > mostNote || (run !== undefined && valueOf(names.run) !== String(run))) {
      return { refused: "signature" }
    }
    const own = signatureOf(this.#secret, { ...request, run, note, bodyHash }, time, nonce)
    if (signature.length !== own.length || !timingSafeEqual(signature, own)) return { refused: "signature" }
    const now = this.#now()
    const age = now - Number(time)
    if (!(Math.abs(age) <= freshMs)) return { refused: "time" }
    if (run === undefined && Number(time) < this.#since) return { refused: "busy" }
    this.#forgetOld(now)
    if (this.#nonces.has(nonce)) return { refused: "signature" }
    if (this.#nonces.size >= this.#most) return { refused: "busy" }
    this.#nonces.set(nonce, now + 2 * freshMs)
    return { note, bodyHash }
  }

  #forgetOld(now: number): void {
    for (const [nonce, until] of this.#nonces) {
      if (until >= now) return
      this.#nonces.delete(nonce)
    }
  }
}
