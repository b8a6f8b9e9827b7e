/** The store of a run: a path of a file, or the address of a server. */
import type { Store } from "@troupe/chat/store"
import { postgres, sqlite } from "@troupe/store"

/** Opens it. */
export const openStore = (database: string): Store.SessionStore =>
  database.startsWith("postgres:") ? postgres(database) : sqlite(database)
