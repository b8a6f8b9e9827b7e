/** The supervision tree: one process for each product. When one crashes, the others do not notice. */
import { GenServer, Supervisor, type System } from "@troupe/otp"
import { stock } from "./stock.ts"

export const openShop = (system: System.System) =>
  Supervisor.start(system, {
    label: "shop",
    strategy: "oneForOne",
    children: [
      { id: "mugs", start: (parent) => GenServer.startLink(parent, stock, 10, { label: "mugs" }) },
      { id: "plates", start: (parent) => GenServer.startLink(parent, stock, 4, { label: "plates" }) }
    ]
  })

/** The shop, as `openShop` returns it. */
export type Shop = Awaited<ReturnType<typeof openShop>>

/** The names of the products. */
export const products = ["mugs", "plates"] as const

/** The address of a product's process. It stays valid when the process is restarted. */
export const addressOf = (shop: Shop, product: (typeof products)[number]) => Supervisor.via(shop, product)
