/** A table in its own scroll container, which the keyboard scrolls too. */
import type { ReactNode } from "react"

interface ScrollTableProps {
  readonly label: string
  readonly columns: ReadonlyArray<string>
  /** Its rows. */
  readonly children: ReactNode
}

export const ScrollTable = ({ label, columns, children }: ScrollTableProps) => (
  <div className="tro-scroll" tabIndex={0} role="region" aria-label={label}>
    <table className="tro-table">
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
