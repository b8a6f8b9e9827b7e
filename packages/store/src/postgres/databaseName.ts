/** The name of the database for messages, without user and password. */
export const databaseName = (url: string): string => {
  const parsed = URL.parse(url)
  return parsed === null ? "the database" : `${parsed.host}${parsed.pathname}`
}
