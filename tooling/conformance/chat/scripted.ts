/** What a case's `raise` throws: an exception of the case's own, told apart from every error of ours. */
export class ScriptedException extends Error {
  constructor(type: string, message: string) {
    super(message)
    this.name = type
  }
}
