/**
 * Signs the messages of a place, and checks them in the host.
 *
 * A signed message is the nonce of its job, then the serialized message. The nonce protects from messages that the code of a
 * handler sends by accident or by imitation. It does not protect from code that reads the memory of its own process.
 *
 * SIGN1. `verified` never throws, whatever it gets.
 */
import { deserialize, serialize } from "node:v8"
import type { FromPlace, SentResult } from "./job.ts"

export const nonceBytes = 16

/** The maximum bytes of a signed message whose content has at most `maxBytes`. */
export const signedBytes = (maxBytes: number): number => nonceBytes + maxBytes

/** A message that has more bytes than its job allows. */
export class Oversized extends RangeError {
  readonly bytes: number

  constructor(bytes: number, maxBytes: number) {
    super(`this value has ${bytes} bytes and maxResultBytes is ${maxBytes}: send less`)
    this.bytes = bytes
  }
}

/** Signs a message. Throws when it cannot be copied, and an `Oversized` when it has more than `maxBytes`. */
export const signed = (message: FromPlace, nonce: Uint8Array, maxBytes: number): Uint8Array => {
  const body = serialize(message)
  if (body.length > maxBytes) throw new Oversized(body.length, maxBytes)
  return Buffer.concat([nonce, body])
}

/** The message, or `undefined` for anything that was not signed with this nonce. */
export const verified = (received: unknown, nonce: Uint8Array): FromPlace | undefined => {
  if (!(received instanceof Uint8Array) || !nonce.every((byte, index) => received[index] === byte)) return undefined
  try {
    return messageOf(deserialize(received.subarray(nonceBytes)))
  } catch {
    return undefined
  }
}

const messageOf = (value: unknown): FromPlace | undefined => {
  if (!isRecord(value)) return undefined
  const { type, message, stack, bytes, result } = value
  switch (type) {
    case "progress":
      return { type, value: value["value"] }
    case "settled": {
      const sent = resultOf(result)
      return sent && { type, result: sent }
    }
    case "raised":
      return typeof message === "string" && (stack === undefined || typeof stack === "string")
        ? { type, message, stack }
        : undefined
    case "crashed":
    case "unsendable":
      return typeof message === "string" ? { type, message } : undefined
    case "oversized":
      return typeof bytes === "number" ? { type, bytes } : undefined
    default:
      return undefined
  }
}

const resultOf = (value: unknown): SentResult | undefined => {
  if (!isRecord(value)) return undefined
  const { type, reason, question, options, result } = value
  switch (type) {
    case "ok":
      return { type, value: value["value"] }
    case "error":
      return { type, reason }
    case "ask_user":
      return { type, question, options }
    case "halt":
      return { type, reason, result }
    default:
      return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
