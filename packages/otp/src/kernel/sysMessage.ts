/**
 * A request to the process itself instead of to what it runs: read the state, replace it, suspend.
 *
 * It is taken in mailbox order, by suspended processes too, and no behaviour, probe or event sees it.
 */
import { MailboxTask } from "./mailboxTask.ts"

export class SysMessage extends MailboxTask {}
