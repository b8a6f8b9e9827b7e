/**
 * The flags of Node that a place gets from this program: the lists below, and no others.
 *
 * A flag that loads or transforms modules is passed, so that a place can load the same modules. A flag that restricts the
 * program is passed, so that the place has the same restrictions. All others are dropped: they run code (`--eval`), load
 * secrets (`--env-file`), or choose the program's mode (`--test`, `--watch`, `--inspect`).
 *
 * FLAG1. A place gets no flag of this program that is in no list, whether from `process.execArgv` or `NODE_OPTIONS`.
 */

/** Flags with a value: `--import=x` or `--import x`. */
const valued: ReadonlySet<string> = new Set([
  "--import",
  "--require",
  "-r",
  "--loader",
  "--experimental-loader",
  "--conditions",
  "-C",
  "--disable-warning",
  "--allow-fs-read",
  "--allow-fs-write"
])

/** Flags without a value, each also in its negated form (`--no-…`). */
const plain: ReadonlySet<string> = new Set([
  "--strip-types",
  "--experimental-strip-types",
  "--experimental-transform-types",
  "--experimental-detect-module",
  "--experimental-require-module",
  "--experimental-import-meta-resolve",
  "--experimental-vm-modules",
  "--experimental-wasm-modules",
  "--experimental-addon-modules",
  "--experimental-sqlite",
  "--experimental-websocket",
  "--experimental-webstorage",
  "--experimental-eventsource",
  "--experimental-global-navigator",
  "--enable-source-maps",
  "--preserve-symlinks",
  "--preserve-symlinks-main",
  "--warnings",
  "--deprecation",
  // These restrict the program.
  "--permission",
  "--allow-addons",
  "--allow-child-process",
  "--allow-wasi",
  "--allow-worker",
  "--addons",
  "--frozen-intrinsics"
])

/** Flags of a whole process, which a thread shares and may not be given. A value is in the same word: `--stack-size=900`. */
const ofProcess: ReadonlySet<string> = new Set([
  "--stack-size",
  "--disable-proto",
  "--disallow-code-generation-from-strings",
  "--allow-net",
  "--experimental-permission",
  "--experimental-default-type"
])

/** The flags of this program that a thread gets. */
export const threadFlags = (flags: ReadonlyArray<string>): Array<string> => passed(flags, isThreadFlag)

/** The flags of this program that a child process gets. */
export const childFlags = (flags: ReadonlyArray<string>): Array<string> => passed(flags, isChildFlag)

/** The value of `NODE_OPTIONS` that a place gets: words that are separated by spaces, in which double quotes may hold spaces. */
export const placeNodeOptions = (options: string): string =>
  passed(options.match(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/g) ?? [], isChildFlag).join(" ")

/** A word that does not start with `-` is the value of the flag before it: Node takes no other value in a word of its own. */
const passed = (words: ReadonlyArray<string>, isPassed: (name: string) => boolean): Array<string> =>
  words.filter((word, index) => {
    const name = nameOf(word)
    if (name.startsWith("-")) return isPassed(name)
    const before = words[index - 1] ?? ""
    return !before.includes("=") && valued.has(nameOf(before))
  })

/** Node reads `_` in the name of a flag as `-`. */
const nameOf = (word: string): string => (word.replace(/^"/, "").split(/[="]/, 1)[0] ?? "").replaceAll("_", "-")

const isThreadFlag = (name: string): boolean => valued.has(name) || plain.has(name.replace(/^--no-/, "--"))

const isChildFlag = (name: string): boolean => isThreadFlag(name) || ofProcess.has(name)
