/** The store of a run: the path of a file, or the address of a server. */
import type { Store } from "@troupe/chat/store"
import { postgres, sqlite } from "@troupe/store"

/** Opens the store. */
export const openStore = (database: string): Store.SessionStore =>
  database.startsWith("postgres:") ? postgres(database) : sqlite(database)
