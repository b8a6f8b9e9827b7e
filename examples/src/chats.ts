/**
 * The chats that every example serves. The examples differ only in the server around them.
 *
 * Replace `Fake` by the adapter of a provider, the store by one that keeps conversations, and `authorize` by your own.
 */
import { Fake, Troupe } from "@troupe/chat"
import { Server, singleton } from "@troupe/server"

/** A model that needs no key. */
export const adapter = Fake.make({
  respond: ({ messages }) =>
    messages.at(-1)?.content === "Wait"
      ? [{ text: "Once" }, { hang: true }]
      : [{ text: "Hi there." }, { finish: "stop" }]
})

/** Starts the Troupe, and makes its server. In a program whose modules are loaded again, call {@link chats}. */
export const start = async (basePath = ""): Promise<Server.Server> => {
  const troupe = await Troupe.start({ adapter })
  return Server.make({ troupe, basePath, authorize: () => ({ owner: "anna" }) })
}

/** The one server of this program, also when a development server loads this module again. */
export const chats = (basePath?: string): Promise<Server.Server> => singleton("examples.chats", () => start(basePath))
