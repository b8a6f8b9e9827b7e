/**
 * Whether a text is base64 as providers accept it: whole groups of four, padded, without line breaks.
 *
 * The text can be a long image: it is searched once and not decoded.
 */
export const isBase64 = (text: string): boolean => {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(padding === 0 ? text : text.slice(0, -padding))
}
