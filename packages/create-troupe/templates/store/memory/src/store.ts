/**
 * Where conversations are kept: in memory, until the program ends.
 *
 * To keep them longer, install `@troupe/store`. Then replace the line:
 * `export const store = sqlite("conversations.db")`
 */
import { Store } from "@troupe/chat/store"

export const store = Store.memory()
