/**
 * The source of an image or a file: base64 text, or a URL that a provider can read.
 *
 * MEDIA1. A message with an image or file that no provider can read is refused before it is stored, whoever sends it: it
 *         would fail each later request of its conversation. A stored conversation with such a part can still be loaded and
 *         rewound.
 * MEDIA2. The `data:` URL of an image holds non-empty base64, and has the media type of an image. The media type of a file
 *         does not contradict its `data:` URL.
 * MEDIA3. Images and files have a bound of their own, `maxFileBytes`, in each message: of a user, of a tool and of a model.
 *         They do not count for the bounds of text. The bytes of an `http:` or `https:` URL are those of its provider.
 */
import type { Finding } from "../errors/index.ts"
import type { FilePart, ImagePart } from "./messageShapes.ts"
import { isBase64 } from "../json/index.ts"

/** The problem of a part's source, or `undefined`. */
export const sourceProblem = (part: ImagePart | FilePart): string | undefined =>
  encodingProblem(part) ?? addressProblem(part)

/** The problem of a source with invalid base64, which a provider cannot decode. */
const encodingProblem = (part: ImagePart | FilePart): string | undefined => {
  const base64 = base64Of(part)
  return base64 === undefined || isBase64(base64) ? undefined : `unresolvable_${part.type}`
}

/** The problem of a source that no provider can read, or whose media type is wrong. */
const addressProblem = (part: ImagePart | FilePart): string | undefined => {
  const source = sourceOf(part)
  const data = "url" in source ? dataUrl(source.url) : undefined
  if ("url" in source && data === undefined && !isWeb(source.url)) return notReadable[part.type]
  if (part.type === "file") {
    return contradicts(part.mediaType, data?.mediaType) ? "must_have_the_media_type_of_its_data_url" : undefined
  }
  if (data !== undefined && !imageType.test(data.mediaType)) return notReadable.image
  if (data !== undefined && data.base64 === undefined) return "must_be_base64 as data:image/png;base64,AAAA"
  if (!("url" in part.image) && !imageType.test(part.image.mediaType)) {
    return "must_have_the_media_type_of_an_image as image/png"
  }
  return base64Of(part) === "" ? "must_not_be_empty" : undefined
}

/** The default bound on the bytes of the images and files of one message. */
export const defaultMaxFileBytes = 20_971_520

/** The bytes of a part: those of its base64 text, or those that its reference names; 0 for the URL of a page (MEDIA3). */
export const bytesOf = (part: ImagePart | FilePart): number => blobOf(part)?.bytes ?? base64Bytes(base64Of(part) ?? "")

/** The bytes of a base64 text. */
const base64Bytes = (base64: string): number => {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding)
}

/** The finding about content with too many bytes in its images and files, or `undefined` (MEDIA3). */
export const fileFinding = (
  content: string | ReadonlyArray<{ readonly type: string }>,
  maxFileBytes: number
): Finding | undefined => {
  const bytes = fileBytesOf(content)
  if (bytes <= maxFileBytes) return undefined
  const advice = "send fewer or smaller ones, or give an https: URL"
  return {
    field: ["content"],
    reason: `must_have_at_most ${maxFileBytes} bytes in images and files, not ${bytes}; ${advice}`
  }
}

/** The bytes of the images and files of content. */
export const fileBytesOf = (content: string | ReadonlyArray<{ readonly type: string }>): number =>
  typeof content === "string" ? 0 : content.reduce((sum, part) => sum + (isMedia(part) ? bytesOf(part) : 0), 0)

/** Whether a part is an image or a file. */
export const isMedia = (part: { readonly type: string }): part is ImagePart | FilePart =>
  part.type === "image" || part.type === "file"

/** The part without the data that it contains, to count the rest of it. */
export const withoutData = (part: ImagePart | FilePart): ImagePart | FilePart => {
  if (base64Of(part) === undefined) return part
  return part.type === "image" ? { ...part, image: { url: "" } } : { ...part, file: { url: "" } }
}

const notReadable = {
  image: "must_be_an_http_https_or_data_url of an image",
  file: "must_be_an_http_https_or_data_url"
} as const

const sourceOf = (part: ImagePart | FilePart): ImagePart["image"] | FilePart["file"] =>
  part.type === "image" ? part.image : part.file

/** The base64 text that a part contains. */
export const base64Of = (part: ImagePart | FilePart): string | undefined => {
  const source = sourceOf(part)
  if ("url" in source) return dataUrl(source.url)?.base64
  return "base64" in source ? source.base64 : undefined
}

/** The reference of a part to bytes in the store. */
export const blobOf = (part: ImagePart | FilePart): { readonly blob: string; readonly bytes: number } | undefined => {
  const source = sourceOf(part)
  return "blob" in source ? source : undefined
}

/** The media type of a part, as far as it says one. */
export const mediaTypeOf = (part: ImagePart | FilePart): string | undefined => {
  if (part.type === "file") return part.mediaType
  return "mediaType" in part.image ? part.image.mediaType : dataUrl(part.image.url)?.mediaType
}

const imageType = /^image\/[^,;/\s]+$/i

const isWeb = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url)

/** A `data:` URL: its media type, which may be empty, and its data if they are base64. Letter case is ignored. */
const dataUrl = (url: string): { readonly mediaType: string; readonly base64: string | undefined } | undefined => {
  const head = /^data:(?<mediaType>[^,;]*)[^,]*,/i.exec(url)
  if (head === null) return undefined
  const isEncoded = /;base64,$/i.test(head[0])
  return { mediaType: head.groups?.["mediaType"] ?? "", base64: isEncoded ? url.slice(head[0].length) : undefined }
}

/** Whether a media type, which may be a range such as `image/*`, excludes the media type of a `data:` URL. */
const contradicts = (mediaType: string, named: string | undefined): boolean => {
  if (named === undefined || named === "") return false
  const [range = ""] = mediaType.toLowerCase().split(";")
  const [kind = "", detail] = range.trim().split("/")
  const [namedKind, namedDetail] = named.trim().toLowerCase().split("/")
  return (kind !== "*" && kind !== namedKind) || (detail !== "*" && detail !== namedDetail)
}
