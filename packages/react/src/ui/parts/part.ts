/** The class names of the parts, and what each part takes. */

/** What each part takes. */
export interface PartProps {
  /** Class names beside the part's own, `troupe-<part>`. */
  readonly className?: string | undefined
}

/** The class names of a part. */
export const classOf = (part: string, { className }: PartProps = {}): string =>
  className === undefined ? `troupe-${part}` : `troupe-${part} ${className}`
