/**
 * The sign-in of a user at an MCP server by OAuth: discovery, registration, PKCE, refresh and more scopes are those of the MCP SDK.
 *
 * Owns: the tokens, registrations and verifiers of one server, in a store or the storage of the host. Does not own the browser.
 *
 * SIGNIN1. The answer of a sign-in is used only if it has the `state` of its request.
 * SIGNIN2. A request is sent again after a sign-in, at most three times.
 * SIGNIN4. Without `open` a needed sign-in is an error that has the page. The answer may come in another program with the same storage, which
 *          keeps what the last 16 pages need.
 * SIGNIN6. In a store the tokens are secrets of their owner, by the URL of the server: they are in no log, view or state of a process.
 * SIGNIN3. The metadata of the authorization server are kept for one sign-in: the next one finds a server that has changed.
 */
import {
  type AuthProvider,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError
} from "@modelcontextprotocol/client"
import type { Store } from "@troupe/chat/store"

/** Where the tokens of a server are kept, by key. Keys are words such as `tokens`. */
export interface SignInStorage {
  /** Returns the stored text; `undefined` for an unknown key. */
  readonly load: (key: string) => Promise<string | undefined>
  /** Stores a text, or with `undefined` deletes it. */
  readonly save: (key: string, text: string | undefined) => Promise<void>
}

/** How a user signs in at a server. */
export interface SignIn {
  /** The URL that the authorization server sends the user back to. */
  readonly redirectUrl: string | URL
  /**
   * Shows the user this page, and resolves with the URL that the user was sent back to, with its query. A rejection fails the connection
   * or the call. Default: a call of a live chat that needs the sign-in waits for a person; the answer is that URL.
   */
  readonly open?: ((url: URL) => Promise<string | URL>) | undefined
  /** The scopes to ask for. Default: those that the server names. */
  readonly scope?: string | undefined
  /** The name that the user reads at the authorization server. Default: `Troupe`. */
  readonly clientName?: string | undefined
  /** The client of an authorization server where the program is registered. Default: it is registered when needed. */
  readonly client?: { readonly id: string; readonly secret?: string | undefined } | undefined
  /** The URL of a document that describes this client, which some servers use in place of a registration. Default: none. */
  readonly clientMetadataUrl?: string | undefined
  /**
   * Whether the metadata of an authorization server must name the server that it was loaded from. `false` is for servers of the
   * revision 2025-03-26 that name another one, and weakens the security. Default: `true`.
   */
  readonly checksIssuer?: boolean | undefined
  /**
   * Where tokens are kept: among the secrets of an owner in a store, or in a storage for this server alone. Default: in memory, for this server
   * of this program.
   */
  readonly storage?:
    | SignInStorage
    | { readonly store: Pick<Store.SessionStore, "secrets">; readonly owner: string }
    | undefined
}

/** Whether the sign-in is that of Troupe: a provider of the MCP SDK has other members. */
export const isSignIn = (auth: SignIn | AuthProvider | OAuthClientProvider): auth is SignIn =>
  !("tokens" in auth) && !("token" in auth)

/** The storage of a server without one. */
const inMemory = (): SignInStorage => {
  const texts = new Map<string, string>()
  return {
    load: async (key) => texts.get(key),
    save: async (key, text) => void (text === undefined ? texts.delete(key) : texts.set(key, text))
  }
}

/** The storage of a server: by its URL, where an owner has several (SIGNIN6). */
const storageOf = (storage: SignIn["storage"] = inMemory(), url: string): SignInStorage => {
  if (!("store" in storage)) return storage
  const { secrets } = storage.store
  if (secrets === undefined) throw new TypeError("The store keeps no secrets: pass a storage with load and save")
  const keyOf = (key: string): string => `mcp ${key} ${url}`
  return {
    load: async (key) => secrets.load(storage.owner, keyOf(key)),
    save: async (key, text) => secrets.save(storage.owner, keyOf(key), text)
  }
}

/** How often a request is sent again after a sign-in (SIGNIN2). */
const mostSignIns = 3

/** How many pages can be answered, the newest (SIGNIN4). */
const mostPages = 16

/** The user must sign in at a page (SIGNIN4). */
export class SignInRequired extends Error {
  override readonly name = "SignInRequired"
  readonly url: string

  constructor(url: URL, cause: unknown) {
    super(`The user must sign in at ${url.href}`, { cause })
    this.url = url.href
  }
}

/** The page of the sign-in that an error asks for, if it does. */
export const signInPage = (error: unknown): string | undefined =>
  error instanceof SignInRequired ? error.url : error instanceof Error ? signInPage(error.cause) : undefined

/** Completes the sign-in at a transport. */
export interface SigningTransport {
  readonly finishAuth: (answer: URLSearchParams) => Promise<void>
}

/** The provider of the MCP SDK for a sign-in. */
export class SignInProvider implements OAuthClientProvider {
  readonly #how: SignIn
  readonly #storage: SignInStorage
  readonly clientMetadataUrl?: string
  /** The option of the transport for `checksIssuer`. */
  readonly skipIssuerMetadataValidation: boolean
  #asked: URL | undefined
  #verifier = ""
  #finishing: { readonly state: string; readonly over: Promise<unknown> } | undefined

  constructor(how: SignIn, url: string) {
    this.#how = how
    this.skipIssuerMetadataValidation = how.checksIssuer === false
    this.#storage = storageOf(how.storage, url)
    if (how.clientMetadataUrl !== undefined) this.clientMetadataUrl = how.clientMetadataUrl
  }

  /** Runs a request, and again after each sign-in that it needs (SIGNIN2). */
  async signedIn<A>(run: () => Promise<A>, transport: () => SigningTransport | undefined): Promise<A> {
    for (let signIns = 0; ; signIns++) {
      try {
        return await run()
      } catch (error) {
        const url = this.#asked
        const { open } = this.#how
        const at = transport()
        if (url === undefined || at === undefined || signIns === mostSignIns || !isUnauthorized(error)) throw error
        if (open === undefined) throw new SignInRequired(url, error)
        this.#asked = undefined
        const answer = new URL(await open(url), this.redirectUrl)
        if (answer.searchParams.get("state") !== url.searchParams.get("state")) throw otherState()
        await this.finish(answer, at)
      }
    }
  }

  /** Completes a sign-in with the URL that the user was sent back to (SIGNIN1, SIGNIN4). Sign-ins are completed one after another. */
  async finish({ searchParams }: URL, at: SigningTransport): Promise<void> {
    while (this.#finishing !== undefined) await this.#finishing.over.catch(() => {})
    const state = searchParams.get("state") ?? ""
    const over = this.#finish(state, searchParams, at)
    this.#finishing = { state, over }
    try {
      await over
    } finally {
      this.#finishing = undefined
    }
  }

  async #finish(state: string, answer: URLSearchParams, at: SigningTransport): Promise<void> {
    const pages = await this.#pages()
    if (!pages.some(([known]) => known === state)) throw otherState()
    await at.finishAuth(answer)
    await this.#save(
      "pages",
      pages.filter(([known]) => known !== state)
    )
  }

  /** The states and the verifiers of the pages that can be answered. */
  async #pages(): Promise<ReadonlyArray<readonly [state: string, verifier: string]>> {
    return (await this.#load("pages")) ?? []
  }

  get redirectUrl(): string | URL {
    return this.#how.redirectUrl
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl, scope, clientName = "Troupe", client } = this.#how
    return {
      client_name: clientName,
      redirect_uris: [String(redirectUrl)],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...(client !== undefined && client.secret === undefined ? { token_endpoint_auth_method: "none" } : {}),
      ...(scope === undefined ? {} : { scope })
    }
  }

  state(): string {
    return crypto.randomUUID()
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { client } = this.#how
    if (client === undefined) return this.#load("client")
    return { client_id: client.id, ...(client.secret === undefined ? {} : { client_secret: client.secret }) }
  }

  saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    return this.#save("client", client)
  }

  tokens(): Promise<StoredOAuthTokens | undefined> {
    return this.#load("tokens")
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.#save("tokens", tokens)
    await this.#storage.save("discovery", undefined)
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    this.#asked = url
    const page = [url.searchParams.get("state") ?? "", this.#verifier] as const
    await this.#save("pages", [...(await this.#pages()), page].slice(-mostPages))
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  async codeVerifier(): Promise<string> {
    const [, verifier] = (await this.#pages()).find(([state]) => state === this.#finishing?.state) ?? []
    if (verifier === undefined) throw new UnauthorizedError("The storage has lost the verifier of this sign-in")
    return verifier
  }

  saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    return this.#save("discovery", state)
  }

  discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return this.#load("discovery")
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    const keys = scope === "all" ? ["client", "tokens", "discovery"] : [scope]
    // A verifier belongs to its page, and is deleted with it.
    for (const key of keys) if (key !== "verifier") await this.#storage.save(key, undefined)
  }

  async #load<A>(key: string): Promise<A | undefined> {
    const text = await this.#storage.load(key)
    return text === undefined ? undefined : (JSON.parse(text) as A)
  }

  #save(key: string, value: unknown): Promise<void> {
    return this.#storage.save(key, JSON.stringify(value))
  }
}

const otherState = (): UnauthorizedError =>
  new UnauthorizedError("The sign-in was answered with the state of another request")

/** Whether the user must sign in: the SDK may put the reason into an error about its handshake. */
const isUnauthorized = (error: unknown): boolean =>
  error instanceof UnauthorizedError ||
  (error instanceof Error && error.cause !== undefined && isUnauthorized(error.cause))
