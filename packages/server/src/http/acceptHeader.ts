/** Whether a client accepts one of the media types that a route produces. */
export const accepts = (accept: string | null, produces: ReadonlyArray<string>): boolean => {
  if (accept === null || accept.trim() === "") return true
  const ranges = accept.split(",").map((range) => range.split(";", 1).join("").trim().toLowerCase())
  return produces.some((type) =>
    ranges.some((range) => range === "*/*" || range === type || range === `${type.split("/", 1).join("")}/*`)
  )
}
