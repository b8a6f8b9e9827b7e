/**
 * The tools of the board of a team.
 *
 * Owns: nothing. The live chat of the call has the board of its team.
 */
import * as z from "zod"
import { tool, type Tool } from "../tool/index.ts"
import { error } from "../values/index.ts"

const noBoard = () =>
  error("This chat has no board; use the tool in a chat of a Troupe whose agent leads a team, or is in one")

/**
 * Makes the tools `write_board` and `read_board`, for the leader and the members of a team.
 *
 * **Details**: `write_board` takes a `text` of at most 4,000 characters, and returns the number of the `post`. `read_board` returns at most 50
 * posts `after` a number, with the number to read on from as `next`, and that of the last post as `last`. A board has at most 500 posts; then a
 * write is `refused` with `board_full`.
 */
export const board = (): ReadonlyArray<Tool> => [
  tool({
    name: "write_board",
    description: "Writes a post on the board of your team, which all of the team can read. It cannot be changed.",
    parameters: z.strictObject({ text: z.string().min(1) }),
    // A post that is written again is the same post.
    onUnknown: "retry",
    execute: async ({ text }, { chat, idempotencyKey }) => chat?.board?.write(text, idempotencyKey) ?? noBoard()
  }),
  tool({
    name: "read_board",
    description:
      "Reads the posts on the board of your team after a number: 0 for all, or the `next` of an earlier read.",
    parameters: z.strictObject({ after: z.int().min(0).default(0) }),
    effect: "read",
    execute: async ({ after }, { chat }) => chat?.board?.read(after) ?? noBoard()
  })
]
