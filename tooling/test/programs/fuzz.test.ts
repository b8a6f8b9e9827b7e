import { expect, test } from "vitest"
import { fuzz } from "../../lab/fuzz/fuzz.ts"

/** Refusals that only requests get which are almost right. */
const deep = [
  "POST /ag-ui 200",
  "POST /ag-ui 409 invalid_status_for_operation",
  "POST /api/chat 200",
  "POST /api/chat 409 already_delivered",
  "POST /v1/chat/completions 200",
  "POST /v1/chat/completions 409 unknown_tool_call_id",
  "POST /v1/responses 200",
  "POST /v1/responses 404 not_found",
  "POST /v1/responses 409 awaiting_tool_results",
  "GET /v1/responses/:id 200",
  "GET /v1/models/:id 404 not_found"
]

test("LAB24. LAB25. LAB19. odd requests get typed refusals, and leave nothing behind", async () => {
  const { seen, wrong } = await fuzz(1_000, 4_711)
  expect(wrong).toEqual([])
  expect(deep.filter((kind) => seen.get(kind) === 0)).toEqual([])
})
