/**
 * The rooms of each package: the folders of its `src`, from the ground up.
 *
 * **Details**: each inner list is a floor. A room imports only rooms of lower floors. Files at the top of `src` are the
 * package's doors: they may import every room, and no room imports them. A nested folder is a room of its own.
 *
 * @module
 */

/** The floors of one package, ground floor first. */
export type Floors = ReadonlyArray<ReadonlyArray<string>>

/** The floors of a package, separated by bars. */
const floors = (text: string): Floors => text.split("|").map((floor) => floor.trim().split(/\s+/))

/** The floors of the packages and apps, by folder. A package whose `src` is one flat room has no row. */
export const roomTable: Readonly<Record<string, Floors>> = {
  "packages/otp": floors(`
    time channel machine/chart | core | kernel | process | telemetry | system | machine/host | machine server | supervisor
    | application observe registry task testing`),
  "packages/chat": floors(`
    errors json | async schema | values | model | record | compaction | events | adapter | tool | gate | options | agents | call request
    | batch | step | store | inbox | loop | session view | family | children | live | troupe | observe`),
  "packages/testing": floors("law | faults ports replay stores"),
  "packages/mcp": floors("connection | tools | client server | command"),
  "packages/providers": floors("aiSdk"),
  "packages/store": floors("options sql | folder postgres sqlite"),
  "packages/server": floors(`
    errors | link | access | http | wire | wire/agUi wire/aiSdk wire/openAi | client post | routes/openAi | routes | server | node`),
  "packages/cluster": floors("placement | lease inner | engine testing home owners | gateway | chats serving | node"),
  "packages/react": floors(`
    format hooks observer/css | ui/parts observer/parts | ui/message | ui/call
    | ui/chat ui/lists observer/chart observer/log observer/timeline observer/tree | observer`),
  "apps/cli": floors("options | model output | chat observe"),
  "apps/playground": floors("control | host page | cluster")
}
