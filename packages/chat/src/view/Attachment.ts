/**
 * Readers of a live chat: attach, detach and cancel are three operations.
 *
 * `chat.attach()` reads the chat's events from now on, `chat.attach({ cursor })` from an earlier place. Leaving the loop
 * detaches, and the chat continues. `chat.cancel()` ends its turn, whoever is attached.
 *
 * @module
 */

export type { Cursor, WhenSlow, AttachOptions, Attached } from "./attachOptions.ts"

export type { Attachment } from "./attachmentReader.ts"
