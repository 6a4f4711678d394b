import { type AnvilGroup, startAnvils } from '../../src/devnet/anvil.js'

/**
 * A process for tests to kill: holds two anvil nodes and tells its parent about them.
 * Argument: the folder to hand to the nodes.
 */
export type AnvilHolderReport = Pick<AnvilGroup, 'anvils' | 'guardPid'>

const { anvils, guardPid } = await startAnvils([{ chainId: 1 }, { chainId: 2 }], process.argv[2] ?? '')
const report: AnvilHolderReport = { anvils, guardPid }
process.send?.(report)
