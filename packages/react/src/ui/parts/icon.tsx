/** The icons: one stroke each, in the colour of the text around them. */

const paths = {
  copy: "M6 6V3.5h6.5V10H10M3.5 6H10v6.5H3.5Z",
  done: "M3.5 8.5 6.5 11.5 12.5 5",
  edit: "M3.5 12.5l.6-2.6 6.5-6.5 2 2-6.5 6.5ZM9.2 4.8l2 2",
  again: "M12.5 8a4.5 4.5 0 1 1-1.4-3.2M12.5 2.8v2.4h-2.4",
  send: "M8 13V3.5M4 7.5l4-4 4 4",
  stop: "M4.5 4.5h7v7h-7Z",
  remove: "M4 4l8 8M12 4l-8 8",
  open: "M6 4l4 4-4 4",
  search: "M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9ZM10.3 10.3 13.5 13.5"
} as const

/** What `Icon` can draw. */
export type IconName = keyof typeof paths

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="troupe-icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path
      d={paths[name]}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
)
