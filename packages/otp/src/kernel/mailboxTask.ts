/** Something to do in a turn of a process, put into its mailbox like a message. */
export class Chore {
  readonly run: () => void
  constructor(run: () => void) {
    this.run = run
  }
}
