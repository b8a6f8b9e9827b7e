/** Where conversations are kept: in a file of SQLite. Node has SQLite, so nothing else runs. */
import { sqlite } from "@troupe/store"

export const store = sqlite("conversations.db")
