/** Reports the cases, and the facets of cases, that the runner did not examine. */

/** The unexamined parts of a case. */
export interface Unexamined {
  readonly id: string
  readonly status: string
  readonly detail: string
  /** The facets that are unknown to the runner. */
  readonly unexamined: ReadonlyArray<string>
}

const listed = (entries: ReadonlyArray<readonly [what: string, id: string]>): ReadonlyArray<string> =>
  [...Map.groupBy(entries, ([what]) => what)].map(
    ([what, of]) => `not examined, ${what}: ${of.map(([, id]) => id).join(", ")}`
  )

/** The lines that list them, and their counts for the tally. */
export const unexaminedOf = (results: ReadonlyArray<Unexamined>): { lines: ReadonlyArray<string>; tally: string } => {
  const cases = results.filter(({ status }) => status === "unexamined")
  const facets = results.flatMap(({ id, unexamined }) => unexamined.map((facet) => [`the facet ${facet}`, id] as const))
  return {
    lines: [...listed(cases.map(({ id, detail }) => [detail, id] as const)), ...listed(facets)],
    tally: `${cases.length} cases and ${facets.length} facets not examined`
  }
}
