/** A proxy in front of a node, which a test freezes and cuts. */
import * as net from "node:net"
import { onTestFinished } from "vitest"

export interface Proxy {
  readonly address: string
  /** Where connections go. */
  readonly lead: (to: string) => void
  /** Passes nothing on, as a frozen node answers nothing. */
  readonly freeze: () => void
  /** Cuts all connections, and refuses others. */
  readonly cut: () => void
}

export const proxy = async (): Promise<Proxy> => {
  const pairs = new Set<readonly [net.Socket, net.Socket]>()
  let target = ""
  let isFrozen = false
  const server = net.createServer((socket) => {
    const [host = "", port = "0"] = target.split(":")
    const other = net.connect(Number(port), host)
    const pair = [socket, other] as const
    pairs.add(pair)
    const end = (): void => {
      pairs.delete(pair)
      socket.destroy()
      other.destroy()
    }
    for (const one of pair) one.on("error", end).on("close", end)
    if (isFrozen) return
    socket.pipe(other)
    other.pipe(socket)
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const cut = (): void => {
    server.close()
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  onTestFinished(cut)
  return {
    address: `127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    lead: (to) => void (target = to),
    freeze: () => {
      isFrozen = true
      for (const [one, other] of pairs) {
        one.unpipe(other)
        other.unpipe(one)
        one.pause()
        other.pause()
      }
    },
    cut
  }
}
