/** A function to run in a turn of a process, put into its mailbox like a message. */
export class MailboxTask {
  readonly run: () => void
  constructor(run: () => void) {
    this.run = run
  }
}
