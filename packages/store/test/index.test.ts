import { expect, test } from "vitest"
import { run, source } from "./double/programs.ts"

const watched = `import { registerHooks } from "node:module"
  const seen = []
  registerHooks({ resolve: (specifier, context, next) => (seen.push(specifier), next(specifier, context)) })
  const { sqlite, postgres } = await import(${JSON.stringify(source)})`

test("who keeps chats in SQLite loads no client of PostgreSQL", async () => {
  const text = `${watched}
    await sqlite(":memory:").close()
    console.log(seen.some((specifier) => specifier.includes("@effect/sql-pg")))`
  expect(await run(text)).toBe("false")
})

test("who keeps chats in PostgreSQL does not load SQLite", async () => {
  const text = `${watched}
    const store = postgres("postgres://troupe@127.0.0.1:1/none")
    await store.load("a").catch(({ reason }) => console.log(reason))
    console.log(seen.includes("@effect/sql-pg"), process.moduleLoadList.includes("NativeModule sqlite"))`
  expect(await run(text)).toBe("unreachable\ntrue false")
})
