/** Whether a client takes what a route can answer with. */
export const accepts = (accept: string | null, produces: ReadonlyArray<string>): boolean => {
  if (accept === null || accept.trim() === "") return true
  const ranges = accept.split(",").map((range) => range.split(";", 1).join("").trim().toLowerCase())
  return produces.some((type) =>
    ranges.some((range) => range === "*/*" || range === type || range === `${type.split("/", 1).join("")}/*`)
  )
}
