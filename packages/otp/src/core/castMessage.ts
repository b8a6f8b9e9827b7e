/** A message to a server that expects no reply. */
export class CastMessage {
  readonly message: unknown
  constructor(message: unknown) {
    this.message = message
  }
}
