/**
 * A page for the examples that show one: the globals of a browser, in the test's own thread.
 *
 * @module
 */
import { builtinEnvironments } from "vitest/runtime"

await builtinEnvironments.jsdom.setup(globalThis, {})
