/** A folder for the files of a test. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder that is new, and removed when the test is over. */
export class Folder implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "troupe-store-"))
  #files = 0

  /** A path in it that nothing has. */
  file(name: string = `${++this.#files}.db`): string {
    return join(this.path, name)
  }

  /** Everybody may look into it. */
  open(): this {
    chmodSync(this.path, 0o755)
    return this
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
