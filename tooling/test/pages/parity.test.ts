import { describe, expect, test } from "vitest"
import { publicNames } from "../../house/publicApi.ts"
import { files, readText } from "../../house/workspace.ts"

const codes = (cell: string): ReadonlyArray<string> => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "")

/** The rows of a table of `docs/otp-parity.md`. */
const rowsOf = (section: string, lines: ReadonlyArray<string>) =>
  lines
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) => {
      const [elixir = "", ours = "", status = "", note = "", proof = ""] = line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim())
      return { section, elixir, ours: codes(ours), status, note, proof }
    })

const sections = readText("docs/otp-parity.md").split("\n## ").slice(1)
const rows = sections.flatMap((section) => {
  const [title = "", ...lines] = section.split("\n")
  return rowsOf(title, lines)
})

const exported = new Set(publicNames("packages/otp").map((name) => name.name))

const titlesOf = (file: string): ReadonlyArray<string> => {
  const [path] = files(`packages/otp/test/**/${file}.test.ts`)
  if (path === undefined) return []
  return [...readText(path).matchAll(/\btest(?:\.each\([^\n]*\))?\(\s*(["'`])(.*?)\1,/gs)].map(
    (match) => match[2] ?? ""
  )
}

const isProved = (proof: string): boolean => {
  const [file = "", words = ""] = proof.split(": ")
  return words !== "" && titlesOf(file).some((title) => title.includes(words))
}

const show = (row: (typeof rows)[number]): string => `${row.section} ${row.elixir}`

describe("docs/otp-parity.md", () => {
  test("has a table for each of Elixir's process modules, and for those of Erlang that people look for", () => {
    const process = "Process, GenServer, Supervisor, DynamicSupervisor, PartitionSupervisor, Registry, Task"
    const others = "Task.Supervisor, Agent, Application, :sys, :gen_statem, :gen_event, :pg and :global, :ets, ExUnit"
    expect([...new Set(rows.map((row) => row.section))].join(", ")).toBe(`${process}, ${others}`)
  })

  test("has four statuses", () => {
    const known = ["same", "differs", "other way", "none"]
    expect(rows.filter((row) => !known.includes(row.status)).map(show)).toEqual([])
  })

  test("names only what the package exports", () => {
    const unknown = rows.flatMap((row) =>
      row.ours.filter((name) => !exported.has(name)).map((name) => `${show(row)}: ${name}`)
    )
    expect(unknown).toEqual([])
  })

  test("names, for what is the same or differs, what it is here and a test that exists", () => {
    const claimed = rows.filter((row) => row.status === "same" || row.status === "differs")
    expect(claimed.filter((row) => row.ours.length === 0 || !isProved(row.proof)).map(show)).toEqual([])
  })

  test("has a reason wherever it is not the same, and proves no more than there is", () => {
    expect(rows.filter((row) => row.status !== "same" && row.note === "").map(show)).toEqual([])
    expect(rows.filter((row) => row.proof !== "" && !isProved(row.proof)).map(show)).toEqual([])
  })

  test("covers the modules of the package that Elixir has too", () => {
    const named = new Set(rows.flatMap((row) => row.ours))
    const modules = ["Agent", "DynamicSupervisor", "PartitionSupervisor", "Registry", "Supervisor", "TaskSupervisor"]
    const functions = publicNames("packages/otp").filter(
      (name) => name.kind === "value" && modules.includes(name.name.split(".", 1).join(""))
    )
    expect(functions.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([])
  })
})
