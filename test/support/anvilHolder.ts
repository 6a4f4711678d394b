import { type AnvilGroup, startAnvils } from '../../src/devnet/anvil.js'

/**
 * A process for tests to kill: holds two anvil nodes and tells its parent about them.
 * Argument: how the path of the nodes' folder starts.
 */
export type AnvilHolderReport = Pick<AnvilGroup, 'anvils' | 'folder'>

const { anvils, folder } = await startAnvils([{ chainId: 1 }, { chainId: 2 }], process.argv[2] ?? '')
const report: AnvilHolderReport = { anvils, folder }
process.send?.(report)
