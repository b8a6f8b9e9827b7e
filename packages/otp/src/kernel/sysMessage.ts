/**
 * A request to the process itself, not to its behaviour: read the state, replace it, suspend.
 *
 * It is taken in mailbox order, also by suspended processes. Behaviours, probes and events do not see it.
 */
import { MailboxTask } from "./mailbox.ts"

export class SysMessage extends MailboxTask {}
