/** A proxy in front of a node, which a test freezes and cuts. */
import { onTestFinished } from "vitest"
import { TcpProxy } from "../../../store/test/double/TcpProxy.ts"

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
  const passing = await TcpProxy.listen()
  const cut = (): void => {
    passing.close()
    passing.cut()
  }
  onTestFinished(cut)
  return {
    address: passing.address,
    lead: (to) => passing.lead(to),
    freeze: () => passing.set(() => "silent"),
    cut
  }
}
