/**
 * A program that sends streams without a signature to a node, over one connection: `unsignedStreams.ts <address> <count> <kind>`. It ends
 * when the node ends the connection, or has answered.
 *
 * - `reset`: each has two headers of 60 kB, and is reset
 * - `note`: each names one header of 4 kB many times, which the connection has kept, and stays open
 */
import * as net from "node:net"

const [address = "", count = "0", kind = "reset"] = process.argv.slice(2)
const { hostname, port } = new URL(`http://${address}`)

const frame = (type: number, flags: number, stream: number, payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.byteLength, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A length of HPACK. */
const lengthOf = (value: number): ReadonlyArray<number> => {
  if (value < 127) return [value]
  const bytes = [127]
  let rest = value - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}

/** A header of HPACK. With `first` 0x40, the connection keeps it. */
const header = (name: string, value: string, first = 0): Buffer =>
  Buffer.concat([
    Buffer.from([first, ...lengthOf(name.length)]),
    Buffer.from(name),
    Buffer.from(lengthOf(value.length)),
    Buffer.from(value)
  ])

const note = "x-troupe-note"
const kept = 0xbe
const begin = [Buffer.from([0x83, 0x86, 0x84]), header(":authority", "a"), header("x-troupe-protocol", "2")]

const block = (index: number): Buffer => {
  if (kind === "reset") {
    return Buffer.concat([...begin, header(note, "z".repeat(60_000)), header("x-other", "z".repeat(60_000))])
  }
  const first = index === 0 ? header(note, "z".repeat(4_050), 0x40) : Buffer.from([kept])
  return Buffer.concat([...begin, first, Buffer.alloc(30, kept)])
}

const largest = 16_384

const stream = (index: number): ReadonlyArray<Buffer> => {
  const id = 2 * index + 1
  const all = block(index)
  const frames: Array<Buffer> = []
  for (let at = 0; at < all.byteLength; at += largest) {
    const isLast = at + largest >= all.byteLength
    frames.push(frame(at === 0 ? 1 : 9, isLast ? 4 : 0, id, all.subarray(at, at + largest)))
  }
  if (kind === "reset") frames.push(frame(3, 0, id, Buffer.from([0, 0, 0, 8])))
  return frames
}

const socket = net.connect(Number(port), hostname)
socket.on("error", () => {})
socket.on("close", () => process.exit())
socket.resume()
socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, Buffer.alloc(0))]))
for (let index = 0; index < Number(count); index++) for (const each of stream(index)) socket.write(each)
// The answer of a ping comes when the node has read all streams.
socket.write(frame(6, 0, 0, Buffer.alloc(8)), () => {
  socket.on("data", (bytes) => {
    if (bytes.includes(frame(6, 1, 0, Buffer.alloc(8)))) process.exit()
  })
})
