/** The signed note of a request between nodes: who asks, and for what. */
import type { ForwardedBy, ForwardedRequest } from "./forwardedRequest.ts"

/** A forwarded request of a client, a request about the limits of owners, or one for the status of a node. */
export type Note =
  | ({
      readonly type: "forward"
      readonly server: string
      readonly url: string
      readonly headers: ForwardedRequest["headers"]
    } & ForwardedBy)
  | { readonly type: "owners"; readonly owner: string }
  | { readonly type: "status" }

/** The text of a note, for a header. */
export const noteText = (note: Note): string => Buffer.from(JSON.stringify(note)).toString("base64url")

/** The note of a signed text: another node of this cluster has written it. */
export const noteOf = (text: string): Note => JSON.parse(Buffer.from(text, "base64url").toString()) as Note
