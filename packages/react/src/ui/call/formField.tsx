/** One field of a form, with its label. */
import { useId } from "react"
import type { Field } from "./formFields.ts"

interface FormFieldProps {
  readonly field: Field
  /** The name of the field in the page. */
  readonly name: string
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined

/** A field of a form. Its value is read from the form. */
export const FormField = ({ field, name }: FormFieldProps) => {
  const id = useId()
  const { kind, label, note, input, choices, isRequired, initial } = field
  const described = note === undefined ? undefined : `${id}-note`
  const common = { id, name, required: isRequired, "aria-describedby": described }
  const about =
    note === undefined ? null : (
      <span id={described} className="troupe-note">
        {note}
      </span>
    )
  if (kind === "choices") {
    const chosen: ReadonlyArray<unknown> = Array.isArray(initial) ? initial : []
    return (
      <fieldset className="troupe-form-field" aria-describedby={described}>
        <legend>{label}</legend>
        {choices.map(({ value, label: text }) => (
          <label key={value} className="troupe-check">
            <input type="checkbox" name={name} value={value} defaultChecked={chosen.includes(value)} />
            {text}
          </label>
        ))}
        {about}
      </fieldset>
    )
  }
  if (kind === "boolean") {
    return (
      <div className="troupe-form-field">
        <label className="troupe-check">
          <input {...common} required={false} type="checkbox" defaultChecked={initial === true} />
          {label}
        </label>
        {about}
      </div>
    )
  }
  return (
    <div className="troupe-form-field">
      <label htmlFor={id}>
        {label}
        {isRequired ? null : <span className="troupe-note"> (optional)</span>}
      </label>
      {kind === "choice" ? (
        <select {...common} defaultValue={textOf(initial) ?? ""}>
          <option value="">Choose …</option>
          {choices.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      ) : (
        <input {...input} {...common} defaultValue={textOf(initial)} />
      )}
      {about}
    </div>
  )
}
