/** A store whose program is sometimes killed between two steps: after the row of an input is written, or after an entry is. */
import { Message } from "@troupe/chat/messages"
import type { Store } from "@troupe/chat/store"
import type { Chance } from "../chance.ts"
import { say } from "../check/history.ts"

/** Kills the program at random, after the store has written and before its caller has the result. */
export const deadly = (inner: Store.SessionStore, chance: Chance): Store.SessionStore => {
  const die = (): boolean => process.kill(process.pid, "SIGKILL")
  const accept: Store.SessionStore["accept"] = async (id, input, ...more) => {
    const accepted = await inner.accept(id, input, ...more)
    if (chance() >= 0.04) return accepted
    say({ type: "sent", chat: id, text: Message.text(input.message), outcome: "stored" })
    die()
    return accepted
  }
  const save: Store.SessionStore["save"] = async (record, precondition) => {
    const saved = await inner.save(record, precondition)
    if (chance() < 0.01) die()
    return saved
  }
  const replaced: Readonly<Record<string, unknown>> = { accept, save }
  return new Proxy(inner, {
    get: (_, name) => {
      const value: unknown = replaced[String(name)] ?? Reflect.get(inner, name)
      return typeof value === "function" ? value.bind(inner) : value
    }
  })
}
