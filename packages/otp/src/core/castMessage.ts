/** A message to a server that wants no answer. */
export class CastMessage {
  readonly message: unknown
  constructor(message: unknown) {
    this.message = message
  }
}
