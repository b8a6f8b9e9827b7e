/**
 * Which images and files of a tool result a provider package sends to its model as content.
 *
 * TFILE1. An image or a file that the package would leave out, refuse, or send as the JSON of its base64 text is sent as a
 *         short text that says so.
 * TFILE2. A package that sends one result for each text gets one text, and the files after it.
 */
import type { ContentPart } from "@troupe/chat/messages"

type Media = Extract<ContentPart, { readonly type: "image" | "file" }>

/** The images and files that a model reads in tool results. */
export interface ToolFiles {
  /** Media types, and ranges such as `image/*`. */
  readonly mediaTypes: ReadonlyArray<string>
  /** Whether a file given by a URL is sent too. */
  readonly urls: boolean
  /** Whether all texts are joined before the files (TFILE2). */
  readonly textFirst?: boolean | undefined
}

const images = ["image/png", "image/jpeg", "image/gif", "image/webp"]
const pdf = "application/pdf"
const none: ToolFiles = { mediaTypes: [], urls: false }
const imagesAndPdf: ToolFiles = { mediaTypes: [...images, pdf], urls: true }
const google: ToolFiles = {
  mediaTypes: ["image/png", "image/jpeg", "image/webp", pdf, "text/plain"],
  urls: false,
  textFirst: true
}

/** The first row that matches a model's provider counts. A package without a row takes only text. */
const rows: ReadonlyArray<readonly [provider: RegExp, files: ToolFiles]> = [
  [/\banthropic\b/, imagesAndPdf],
  [/^(?:openai|azure).*\.responses$/, imagesAndPdf],
  [/^xai\.responses$/, { mediaTypes: ["image/png", "image/jpeg"], urls: true }],
  [/^google\..*interactions/, { mediaTypes: images, urls: false }],
  [/^google\./, google],
  [/^amazon-bedrock$/, { mediaTypes: images, urls: false }],
  [/^gateway:(?:anthropic|openai)\//, imagesAndPdf],
  [/^gateway:google\//, google]
]

/** The files of a model. `given` are media types of the caller's own choice. */
export const toolFilesOf = (
  { provider, modelId }: { readonly provider: string; readonly modelId: string },
  given?: ReadonlyArray<string>
): ToolFiles => {
  const name = provider === "gateway" ? `gateway:${modelId}` : provider
  const files = rows.find(([pattern]) => pattern.test(name))?.[1] ?? none
  return given === undefined ? files : { ...files, mediaTypes: given, urls: files.urls || files === none }
}

/** Whether a model reads this part of a tool result. */
export const isRead = (part: Media, { mediaTypes, urls }: ToolFiles): boolean => {
  const { mediaType, isUrl } =
    part.type === "image" ? sourceOf(part.image, "image/*") : sourceOf(part.file, part.mediaType)
  return (urls || !isUrl) && mediaTypes.some((range) => overlaps(range, mediaType))
}

type Source =
  | { readonly url: string }
  | { readonly mediaType?: string; readonly base64?: string; readonly blob?: string }

const sourceOf = (source: Source, mediaType: string): { readonly mediaType: string; readonly isUrl: boolean } => {
  if (!("url" in source)) return { mediaType: source.mediaType ?? mediaType, isUrl: false }
  const data = /^data:(?<mediaType>[^;,]*)[^,]*;base64,/i.exec(source.url)
  return { mediaType: data?.groups?.["mediaType"] || mediaType, isUrl: data === null }
}

/** Whether a range of media types has a media type, which may be a range itself. Parameters are ignored. */
const overlaps = (range: string, mediaType: string): boolean => {
  const [kind = "", detail = "*"] = range.toLowerCase().split("/")
  const [own = "", ownDetail = "*"] = (mediaType.toLowerCase().split(";")[0] ?? "").trim().split("/")
  return (kind === "*" || kind === own) && (detail === "*" || ownDetail === "*" || detail === ownDetail)
}
