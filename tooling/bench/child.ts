/** The process of one contender: measures the one that its arguments name, and sends the costs to its parent. */
import { contenderOf, isContender } from "./contenders.ts"

const [name = ""] = process.argv.slice(2)
if (!isContender(name)) throw new Error(`no contender is called ${name}`)
const costs = await contenderOf(name).measure()
process.send?.(costs, () => process.disconnect())
