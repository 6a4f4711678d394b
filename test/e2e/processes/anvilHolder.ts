import { type AnvilGroup, startAnvils } from '../../../src/devnet/anvil.js'

/**
 * A process for tests to kill: starts two anvil nodes and reports them to its parent. Argument: the prefix of the
 * nodes' folder.
 */
export type AnvilHolderReport = Pick<AnvilGroup, 'anvils' | 'folder'>

const { anvils, folder } = await startAnvils([{ chainId: 1 }, { chainId: 2 }], process.argv[2] ?? '')
const report: AnvilHolderReport = { anvils, folder }
process.send?.(report)
