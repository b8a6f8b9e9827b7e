/**
 * Where the project is on the web. The site takes the addresses from here; the house tests compare manifests and published files with them.
 *
 * **Details**: both are placeholders until the project has a host: no registrar sells a name under `.example`.
 *
 * @module
 */

/** The documentation, without a slash at its end. */
export const site = "https://troupe.example"

/** The source code, without a slash at its end. `<repository>/blob/main/<path>` shows a file. */
export const repository = "https://code.troupe.example/troupe"
