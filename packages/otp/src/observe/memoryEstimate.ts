/**
 * An estimate of the memory of a process, from a sample of the values it reaches.
 *
 * It uses fixed sizes for kernel objects, walks a bounded part of the state and of the mailbox, and extrapolates the rest
 * of the mailbox. Values that processes share count for each of them.
 *
 * MEM1. It reads at most `most` values of a process, however large its state is.
 */
import { Cell } from "../kernel/index.ts"

const most = 500
const sampledMessages = 16
const bytes = { cell: 320, entry: 48, slot: 8, object: 24, number: 12, character: 2, message: 16 }

interface Walk {
  left: number
  readonly seen: Set<object>
}

const partsOf = (value: object): Iterable<unknown> => {
  if (value instanceof Map) return [...value.keys(), ...value.values()]
  return value instanceof Set ? value : Object.values(value)
}

const sizeOfObject = (value: object, walk: Walk): number => {
  if (walk.seen.has(value) || value instanceof Cell) return bytes.slot
  walk.seen.add(value)
  if (ArrayBuffer.isView(value)) return bytes.object + value.byteLength
  let size = bytes.object
  for (const part of partsOf(value)) {
    if (walk.left <= 0) break
    size += bytes.slot + sizeOf(part, walk)
  }
  return size
}

const sizeOf = (value: unknown, walk: Walk): number => {
  walk.left--
  if (typeof value === "string") return bytes.object + bytes.character * value.length
  if (typeof value === "number" || typeof value === "bigint") return bytes.number
  return typeof value === "object" && value !== null ? sizeOfObject(value, walk) : 0
}

/** The size of a value; 0 if it cannot be read. */
const attempt = (value: unknown, walk: Walk): number => {
  try {
    return sizeOf(value, walk)
  } catch {
    return 0
  }
}

const mailSize = (cell: Cell, walk: Walk): number => {
  const { mailbox } = cell
  if (mailbox === undefined) return 0
  const sample = mailbox.first(sampledMessages)
  const sampled = sample.reduce<number>((sum, message) => sum + attempt(message, walk), 0)
  return bytes.entry + mailbox.size * (bytes.message + (sample.length === 0 ? 0 : sampled / sample.length))
}

const stateOf = ({ behaviour }: Cell): unknown => {
  try {
    return behaviour.outline === undefined ? behaviour.inspect?.() : behaviour.outline()
  } catch {
    return undefined
  }
}

/** Estimates the bytes a process holds. */
export const memoryOf = (cell: Cell): number => {
  const { links, watchers, resources, receivers } = cell
  const entries = links.length + (watchers?.size ?? 0) + (resources?.size ?? 0) + (receivers?.length ?? 0)
  const walk: Walk = { left: most, seen: new Set() }
  return Math.round(bytes.cell + entries * bytes.entry + attempt(stateOf(cell), walk) + mailSize(cell, walk))
}
