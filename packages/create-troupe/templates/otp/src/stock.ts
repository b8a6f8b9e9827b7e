/** The stock of one product: a server process with a count. */
import { GenServer } from "@troupe/otp"

/** Takes some of the product. */
export interface Take {
  readonly take: number
}

export const stock = GenServer.make({
  init: (count: number) => GenServer.ok(count),
  handleCall: (request: Take | "count", _from, count) => {
    if (request === "count") return GenServer.replying(count, count)
    // A number that makes no sense is a bug of the caller. The process crashes, and its supervisor starts it again.
    if (!(request.take > 0)) throw new RangeError(`Cannot take ${request.take}`)
    const isEnough = request.take <= count
    return GenServer.replying(isEnough ? "taken" : "sold out", isEnough ? count - request.take : count)
  }
})
