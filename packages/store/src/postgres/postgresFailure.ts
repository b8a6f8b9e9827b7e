/** Maps PostgreSQL's errors to reasons and advice. */
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { StoreError, type StoreErrorReason } from "../sql/index.ts"

const notReady = ["unreachable", "starts or stops; try again soon"] as const

/** The errors that a user can fix, by PostgreSQL's error code. */
const meanings: Readonly<Record<string, readonly [StoreErrorReason, string]>> = {
  "3D000": ["cannot_open", "does not exist; create it, or give another"],
  "25006": ["read_only", "may only be read, as a standby is; give the address of the primary"],
  "25P03": ["busy", "ended a transaction that this program left waiting; try again, or raise idleTransactionTimeoutMs"],
  "53100": ["full", "has no room left on its disk; make some, nothing that was kept is lost"],
  "53300": ["busy", "has no connection left; lower maxConnections, or let it take more"],
  "57P01": notReady,
  "57P02": notReady,
  "57P03": notReady
}

const byKind: Readonly<Record<string, readonly [StoreErrorReason, string]>> = {
  ConnectionError: ["unreachable", "gives no answer; see that it runs and can be reached from here"],
  AuthenticationError: ["refused", "does not let this user in; look at the user and the password"],
  AuthorizationError: ["refused", "does not allow this user that; grant the rights to the schema"],
  LockTimeoutError: ["busy", "is locked by another program; try again later"],
  StatementTimeoutError: ["busy", "took too long; try again, or raise statementTimeoutMs"]
}

const codeOf = ({ reason }: SqlError): string => {
  const { cause } = reason
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
}

/** Converts an error of the database to one of the store, and returns any other unchanged. */
export const postgresFailure =
  (name: string) =>
  (error: unknown): unknown => {
    if (!isSqlError(error)) return error
    const [reason, what] = meanings[codeOf(error)] ??
      byKind[error.reason._tag] ?? ["failed", `failed: ${error.message}`]
    return new StoreError(reason, name, `The database ${name} ${what}`, { cause: error })
  }
