/**
 * What an image or a file is given as: text in base64, or a URL that a provider can read.
 *
 * MEDIA1. A message whose image or file no provider can read is refused before it is stored, whoever says it: it would fail each
 *         later request of its conversation. A stored conversation with such a URL can be loaded all the same, and rewound.
 */
import type { FilePart, ImagePart } from "../ContentPart.ts"
import { isBase64 } from "./base64.ts"

/** The problem of a part's source; `undefined` where there is none. */
export const sourceProblem = (part: ImagePart | FilePart): string | undefined =>
  encodingProblem(part) ?? addressProblem(part)

/** The problem of a source that is not base64 where it says so: a provider cannot decode it. */
export const encodingProblem = (part: ImagePart | FilePart): string | undefined => {
  const source = sourceOf(part)
  const base64 = "url" in source ? inlined(source.url) : source.base64
  return base64 === undefined || isBase64(base64) ? undefined : `unresolvable_${part.type}`
}

/** The problem of a URL that no provider can read, and of an image whose media type is another one's. */
const addressProblem = (part: ImagePart | FilePart): string | undefined => {
  const source = sourceOf(part)
  if (!("url" in source)) {
    return part.type === "image" && !isImage(part.image)
      ? "must_have_the_media_type_of_an_image as image/png"
      : undefined
  }
  const { url } = source
  if (part.type === "file") return isWeb(url) || isData(url) ? undefined : "must_be_an_http_https_or_data_url"
  return isWeb(url) || imageData.test(url) ? undefined : "must_be_an_http_https_or_data_url of an image"
}

const sourceOf = (part: ImagePart | FilePart): { readonly url: string } | { readonly base64: string } =>
  part.type === "image" ? part.image : part.file

const isImage = (image: ImagePart["image"]): boolean => "url" in image || /^image\//i.test(image.mediaType)

/** Only the beginning of a URL is looked at where it holds the image itself. */
const imageData = /^data:image\/[^,]+,/i

const isData = (url: string): boolean => /^data:[^,]*,/i.test(url)

const isWeb = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url)

const mark = ";base64,"

/** The base64 text in a `data:` URL that has one. */
const inlined = (url: string): string | undefined => {
  if (!url.startsWith("data:")) return undefined
  const start = url.indexOf(mark)
  return start === -1 ? undefined : url.slice(start + mark.length)
}
