/** The exception of a case's `raise`, distinct from all of our errors. */
export class ScriptedException extends Error {
  constructor(type: string, message: string) {
    super(message)
    this.name = type
  }
}
