import { Chat } from "@troupe/react/ui"

/** A conversation: its messages, its tools, its decisions, and the field for the next message. */
export const Conversation = ({ id }: { readonly id: string }) => (
  <Chat id={id} empty={<p>Ask: Where is order 42? Then: Refund order 42.</p>} />
)
