/** The process of one contender: measures the one that its arguments name, and sends the costs to its parent. */
import { contenderOf, isContender } from "./contenders.ts"

const [name = "", folder = ""] = process.argv.slice(2)
if (!isContender(name)) throw new Error(`no contender is called ${name}`)
const costs = await contenderOf(name).measure(folder)
process.send?.(costs, () => process.disconnect())
