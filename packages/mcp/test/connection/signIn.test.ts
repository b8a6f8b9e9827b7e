import { UnauthorizedError } from "@modelcontextprotocol/client"
import { expect, test } from "vitest"
import { SignInProvider, type SignInStorage } from "../../src/connection/signIn.ts"

const redirectUrl = "http://localhost:1/callback"

/** A request that needs so many sign-ins, and the transport that completes them. */
const needing = (signIns: number, answer: (page: URL) => string, storage?: SignInStorage) => {
  const finished: Array<string | null> = []
  let left = signIns
  const provider = new SignInProvider({ redirectUrl, open: async (page) => answer(page), storage }, "http://shop/mcp")
  const run = async (): Promise<string> => {
    if (left-- === 0) return "done"
    await provider.redirectToAuthorization(new URL(`http://as/authorize?state=s${left}`))
    throw new Error("the handshake failed", { cause: new UnauthorizedError() })
  }
  const finishAuth = async (found: URLSearchParams): Promise<void> => void finished.push(found.get("code"))
  return { result: () => provider.signedIn(run, () => ({ finishAuth })), finished, provider }
}

const returning = (page: URL): string => `${redirectUrl}?code=c&state=${page.searchParams.get("state") ?? ""}`

test("SIGNIN1. an answer with the state of another request is refused before its code is used", async () => {
  const { result, finished } = needing(1, () => `${redirectUrl}?code=c&state=other`)
  await expect(result()).rejects.toThrow("the state of another request")
  expect(finished).toEqual([])
})

test("SIGNIN2. a request is sent again after each of three sign-ins, and fails at a fourth", async () => {
  const three = needing(3, returning)
  expect(await three.result()).toBe("done")
  expect(three.finished).toEqual(["c", "c", "c"])
  const four = needing(4, returning)
  await expect(four.result()).rejects.toThrow("the handshake failed")
  expect(four.finished).toHaveLength(3)
})

test("SIGNIN2. an error that is no refusal begins no sign-in", async () => {
  const { provider, finished } = needing(0, returning)
  const failing = (): Promise<never> => Promise.reject(new Error("down"))
  await expect(provider.signedIn(failing, () => undefined)).rejects.toThrow("down")
  expect(finished).toEqual([])
})

test("SIGNIN3. with its tokens a sign-in forgets the metadata of the authorization server", async () => {
  const texts = new Map<string, string | undefined>()
  const storage = {
    load: async (key: string) => texts.get(key),
    save: async (key: string, text: string | undefined) => void texts.set(key, text)
  }
  const { provider } = needing(0, returning, storage)
  await provider.saveDiscoveryState({ authorizationServerUrl: "http://as" })
  expect(await provider.discoveryState()).toEqual({ authorizationServerUrl: "http://as" })
  await provider.saveTokens({ access_token: "t", token_type: "Bearer" })
  expect(await provider.discoveryState()).toBeUndefined()
  expect(await provider.tokens()).toMatchObject({ access_token: "t" })
  await provider.invalidateCredentials("all")
  expect(await provider.tokens()).toBeUndefined()
})
