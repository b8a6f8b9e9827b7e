/**
 * The tool of a server that needs a sign-in before it can be used.
 *
 * SIGNIN5. A server that needs a sign-in has one tool, whose call waits until the user has signed in at its page, also over a restart and on
 *          another node. Then the chats have the tools of the server from the next request on.
 */
import { error, halt, ok } from "@troupe/chat"
import { Tool } from "@troupe/chat/tools"
import { acceptedName } from "./toolNames.ts"

/** A server that needs a sign-in. */
interface SigningServer {
  readonly server: string
  readonly prefix: string | undefined
  readonly page: string
  readonly signIn: (returned: unknown) => Promise<void>
}

/** The tool by which the user signs in. */
export const signInTool = ({ server, prefix = "", page, signIn }: SigningServer): Tool.Tool =>
  Tool.make({
    name: acceptedName(`${prefix}sign_in`),
    description: `Lets the user sign in at ${server}, whose other tools can be used afterwards`,
    effect: "read",
    parameters: { type: "object", properties: {} },
    handler: async (_, { chat }) => {
      const question = `Sign in to use ${server}`
      if (chat?.waitFor === undefined) return error(`${question}: ${page}`)
      const decision = chat.answered?.decisions["page"]
      if (decision === undefined) return chat.waitFor([{ id: "page", question, options: { server, url: page } }])
      if (decision.type === "halt")
        return halt(decision.reason ?? "halt", `The turn was ended while ${server} waited for a sign-in`)
      if (decision.type !== "result") return error(`The user did not sign in at ${server}`)
      await signIn(decision.value)
      return ok(`The user has signed in at ${server}. Its tools can be used from now on.`)
    }
  })
