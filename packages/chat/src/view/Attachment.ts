/**
 * Following a living chat: attach, detach, cancel are three verbs.
 *
 * `chat.attach()` follows the chat from here on, `chat.attach({ cursor })` from where a reader was before; leaving the loop
 * detaches, and the chat goes on; `chat.cancel()` ends its turn, whoever is attached.
 *
 * @module
 */

export type { Cursor, WhenSlow, AttachOptions, Attached } from "./attachOptions.ts"

export type { Attachment } from "./attachmentReader.ts"
