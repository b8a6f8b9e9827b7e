/**
 * The doc comments of names and of the members of types.
 *
 * DOC1. Each field of an options type, and each member of a public type, has a doc comment.
 * DOC2. A doc comment says more than the words of its own name.
 * DOC3. The doc comment of a public name, and of a member of its type, cites no law.
 * DOC4. An editor shows the name of a result's type, and not its fields.
 *
 * @module
 */
import { memoOf } from "./memo.ts"
import { docAbove } from "./moduleFacts.ts"
import { child, children, parse, textOf, type SyntaxNode } from "./syntax.ts"
import { wordsIn } from "./words.ts"

/** One declared name, or one member of a type. */
export interface Declared {
  readonly name: string
  /** The type of a member; empty for a declared name. */
  readonly owner: string
  readonly isMethod: boolean
  /** The types that its type extends or implements: an editor shows their comment where a member has none. */
  readonly bases: ReadonlyArray<string>
  readonly doc: string | undefined
}

/** The names that a module declares, and the members of its interfaces, object types and classes, without private ones. */
export const declaredIn = memoOf((text): ReadonlyArray<Declared> =>
  children(parse(text).program, "body").flatMap((statement) => {
    const node = child(statement, "declaration") ?? statement
    const name = nameOf(node) || nameOf(children(node, "declarations")[0])
    if (name === "") return []
    const above = [...children(node, "implements"), ...children(node, "extends")]
    const bases = above.map((base) => textOf(child(base, "expression"), "name"))
    const whole = { name, owner: "", isMethod: false, bases, doc: docAbove(statement.start, text) }
    const members = bodyOf(node).flatMap((member): ReadonlyArray<Declared> => {
      const key = textOf(child(member, "key"), "name")
      const isPrivate = child(member, "key")?.type === "PrivateIdentifier" || textOf(member, "accessibility") !== ""
      if (isPrivate || member["computed"] === true || /^(?:|_tag|constructor|message|toString)$/.test(key)) return []
      return [
        { ...whole, name: key, owner: name, isMethod: /Method/.test(member.type), doc: docAbove(member.start, text) }
      ]
    })
    return [whole, ...members]
  })
)

/** Whether a member has a comment, or its type has a base that comments it; a base of another package comments its methods. */
export const isCommented = ({ name, isMethod, bases, doc }: Declared, all: ReadonlyArray<Declared>): boolean =>
  doc !== undefined ||
  bases.some((base) => {
    const whole = all.find((found) => found.owner === "" && found.name === base)
    const same = all.find((found) => found.owner === base && found.name === name)
    return whole === undefined ? isMethod : isCommented(same ?? { ...whole, name, isMethod, doc: undefined }, all)
  })

/** Whether a comment has only words of its name and of its type, and such as `the`. */
export const isEcho = ({ name, owner, doc }: Pick<Declared, "name" | "owner" | "doc">): boolean => {
  const own = new Set(wordsIn(`${fillers} ${name} ${owner}`).map(stem))
  return (
    doc
      ?.match(/\b\w{2,}/g)
      ?.flatMap(wordsIn)
      .every((word) => own.has(stem(word))) === true
  )
}

const fillers = "an and are as at be by each for from has in is it its of on one or that the this to with"

const stem = (word: string): string => word.replace(/(?:ing|ed|es|s|e)$/, "")

const nameOf = (node: SyntaxNode | undefined): string => textOf(node && child(node, "id"), "name")

const bodyOf = (node: SyntaxNode): ReadonlyArray<SyntaxNode> => {
  const body = child(node, "body") ?? child(node, "typeAnnotation")
  return body === undefined ? [] : children(body, body.type === "TSTypeLiteral" ? "members" : "body")
}
