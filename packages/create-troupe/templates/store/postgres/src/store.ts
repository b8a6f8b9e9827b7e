/** Where conversations are kept: in PostgreSQL. `docker compose up --detach` starts one for development. */
import { postgres } from "@troupe/store"

export const store = postgres(process.env.DATABASE_URL ?? "postgres://troupe:troupe@127.0.0.1:5432/troupe")
