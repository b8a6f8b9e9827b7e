/** Maps the errors of a folder's files to reasons and advice. */
import { StoreError, type StoreErrorReason } from "../sql/index.ts"

const meanings: Readonly<Record<string, readonly [StoreErrorReason, (path: string) => string]>> = {
  ENOENT: ["cannot_open", (path) => `There is no folder ${path}, and it cannot be created; give another path`],
  ENOTDIR: ["cannot_open", (path) => `${path} is not a folder; give another path`],
  EACCES: ["cannot_open", (path) => `${path} may not be opened; give this user the right to read and write it`],
  EPERM: ["read_only", (path) => `${path} may only be read; give this user the right to write it`],
  EROFS: ["read_only", (path) => `${path} may only be read; give a folder of a disk that may be written`],
  ENOSPC: ["full", (path) => `There is no room left for ${path}; make some, nothing that was kept is lost`],
  EDQUOT: ["full", (path) => `This user has no room left for ${path}; make some, nothing that was kept is lost`]
}

/** Converts an error of a file to one of the store, and returns any other unchanged. */
export const folderFailure = (path: string, error: unknown): unknown => {
  const code: unknown = error instanceof Error && "syscall" in error ? Reflect.get(error, "code") : undefined
  if (typeof code !== "string") return error
  const [reason, say] = meanings[code] ?? (["failed", () => `A file of ${path} failed: ${String(error)}`] as const)
  return new StoreError(reason, path, say(path), { cause: error })
}
