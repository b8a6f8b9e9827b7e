/**
 * A consumer's program: a process has one instance of each module, however it is imported.
 *
 * @module
 */
import * as chat from "@troupe/chat"
import * as messages from "@troupe/chat/messages"
import * as otp from "@troupe/otp"
import * as clock from "@troupe/otp/clock"
import { match, strictEqual } from "node:assert/strict"
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

match(import.meta.resolve("@troupe/chat"), /\/dist\/bundled\/index\.js$/)
match(import.meta.resolve("@troupe/otp/clock"), /\/dist\/bundled\/time\/Clock\.js$/)
strictEqual(require("@troupe/chat"), chat)
strictEqual(require("@troupe/otp"), otp)
strictEqual(chat.user, messages.Message.user)
strictEqual(otp.Clock.live, clock.live)
