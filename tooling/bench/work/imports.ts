/** The processor time of an import in a new process. */
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type Costs, processorTime } from "./timed.ts"

/** The file that imports the modules of the peers that `@troupe/chat` and `@troupe/otp` import. */
export const peerImports = "peers.js"

/** The file that imports `@troupe/chat`. */
export const chatImport = "chat.js"

/** Measures the import of a file of the folder. Nothing is warm: a module is imported once. */
export const importOf = async (folder: string, file: string): Promise<Costs> => {
  const url = pathToFileURL(join(folder, file)).href
  return { cpuMs: await processorTime(async () => void (await import(url))) }
}
