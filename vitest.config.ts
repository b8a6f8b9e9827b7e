import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { doctestPlugin } from "./tooling/doctest/doctestPlugin.ts"
import { compileCache } from "./tooling/house/workspace.ts"

// The workers inherit the seed of the run, which must stand before `reporter.ts` is loaded.
process.env["TROUPE_SEED"] ??= String(process.pid % 5)
const { reporter } = await import("./tooling/verify/reporter.ts")

const measured = ["{packages/*,apps/*,tooling}/test/growth/**/*.test.ts", "packages/*/test/**/growth.test.ts"]
// What a test waits for comes late on a busy machine. The limit of the test ends a wait that lasts for ever.
const expect = { poll: { timeout: 30_000 } }
const programs = ["{packages/*,apps/*,examples,tooling}/test/programs/**/*.test.ts"]

// The test files of a worker share its modules: loading them anew for each file costs as much as the tests themselves.
const shared = {
  isolate: false,
  execArgv: ["--expose-gc"],
  expect,
  // The programs that tests start compile the same modules once.
  env: { NODE_COMPILE_CACHE: compileCache }
}

export default defineConfig({
  test: {
    dangerouslyIgnoreUnhandledErrors: false,
    allowOnly: false,
    retry: 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests wait more than they compute, on two processors too.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ["default", reporter],
    // Systems of tests crash on purpose. A test of the log itself collects its lines.
    onConsoleLog: (log, type) =>
      type !== "stderr" ||
      !log
        .trimEnd()
        .split("\n")
        .every((line) => line.startsWith("[error] ")),
    projects: [
      {
        test: {
          ...shared,
          name: "tests",
          setupFiles: ["packages/chat/test/double/foldedSaves.ts"],
          include: ["{packages,apps}/*/test/**/*.test.{ts,tsx}", "{examples,tooling}/test/**/*.test.ts"],
          exclude: ["apps/playground/test/browser/**", ...programs, ...measured]
        }
      },
      {
        // Tests that start whole programs, and the command runners. `pnpm test` leaves them out.
        test: { ...shared, name: "programs", include: programs }
      },
      {
        // Tests that measure memory or time have the process to themselves. `pnpm test` leaves them out.
        test: { name: "growth", include: measured, expect, execArgv: ["--expose-gc"] }
      },
      {
        test: {
          name: "browser",
          expect,
          // Longer than the limit of one step of a page, so that a failure names the step.
          testTimeout: 240_000,
          include: ["apps/playground/test/browser/**/*.test.ts"],
          env: shared.env,
          globalSetup: ["apps/playground/test/browser/setup.ts"]
        }
      },
      {
        // The documentation site, built and opened in a browser. `pnpm test` leaves it out.
        test: {
          name: "site",
          expect,
          testTimeout: 300_000,
          include: ["docs/test/**/*.test.ts"],
          globalSetup: ["docs/test/setup.ts"]
        }
      },
      {
        plugins: [doctestPlugin(import.meta.dirname)],
        test: {
          name: "examples",
          isolate: false,
          include: [],
          includeSource: ["README.md", "packages/*/README.md", "docs/**/*.md", "packages/*/src/**/*.ts"],
          exclude: ["**/node_modules/**", "docs/{dist,reference}/**"]
        }
      }
    ]
  }
})
