import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Abi, AbiItem } from 'viem'
import { toEventSelector, toFunctionSelector } from 'viem/utils'
import { readCompiledContract } from '../../../src/devnet/compiledContracts.js'
import * as abis from '../../../src/devnet/contractAbis.js'
import type { ContractName } from '../../../src/devnet/contractNames.js'

/** Selectors of the real contracts, as published. Nothing here is computed from this project's sources. */
const published: Partial<Record<ContractName, Record<string, string>>> = {
  Bridge: {
    bridgeAsset: '0xcd586579',
    bridgeMessage: '0x240ff378',
    claimAsset: '0xccaa2d11',
    claimMessage: '0xf5efcd79',
    isClaimed: '0xcc461632',
    claimedBitMap: '0xee25560b',
    getRoot: '0x5ca1e165',
    depositCount: '0x2dfdf0b5',
    lastUpdatedDepositCount: '0xbe5831c7',
    networkID: '0xbab161bf',
    globalExitRootManager: '0xd02103ca',
    updateGlobalExitRoot: '0x79e2cf97',
    getTokenWrappedAddress: '0x22e95f2c',
    BridgeEvent: '0x501781209a1f8899323b96b4ef08b168df93e0a90c673d1e4cce39366cb62f9b',
    ClaimEvent: '0x1df3f2a973a00d6635911755c260704e95e8a5876997546798770f76396fda4d',
    NewWrappedToken: '0x490e59a1701b938786ac72570a1efeac994a3dbe96e2e883e19e902ace6e6a39',
    BackwardLET: '0x2f8b2f36ca0d63af2efffe9d5e728a61c2bc273a3fc0574d12b558a41f149555',
    ForwardLET: '0xe90f3fcbcd86a778012608da0cd7622521c8dac9919dddf25a3fb634adb3d2c8',
    SetSovereignTokenAddress: '0xdbe8a5da6a7a916d9adfda9160167a0f8a3da415ee6610e810e753853597fce7',
    MigrateLegacyToken: '0xb7f8fd4d1faf9b2929dc269f59c53e3a2bccc44e9950f33a568fcbcb37eb69a9',
    RemoveLegacySovereignTokenAddress: '0xc2ae0bd0ec0fd0352bfe5bacac49637af342c1e40f1b80a7f74440dc7fe3f063',
    SetClaim: '0x8b65fb527138ff0fedc6b8e75e5a12268c71a1231b370b03209f7a286746823c',
    UpdatedUnsetGlobalIndexHashChain: '0xc80e0aca446a59735359a7ae46124b57c47b892827642779bc6dafc84ba90b03',
    EmergencyStateActivated: '0x2261efe5aef6fedc1fd1550b25facc9181745623049c7901287030b9ad1a5497',
    EmergencyStateDeactivated: '0x1e5e34eea33501aecf2ebec9fe0e884a40804275ea7fe10b2ba084c8374308b3',
    GlobalExitRootInvalid: '0x002f6fad',
    InvalidSmtProof: '0xe0417cec',
    AlreadyClaimed: '0x646cf558',
    DestinationNetworkInvalid: '0x0595ea2e',
    InvalidGlobalIndex: '0x071389e9',
    EtherTransferFailed: '0x6747a288',
    MessageFailed: '0x37e391c3',
    OnlyNotEmergencyState: '0x2f0047fc',
  },
  GlobalExitRootManagerL1: {
    globalExitRootMap: '0x257b3632',
    l1InfoRootMap: '0xef4eeb35',
    depositCount: '0x2dfdf0b5',
    getRoot: '0x5ca1e165',
    lastMainnetExitRoot: '0x319cf735',
    lastRollupExitRoot: '0x01fd9044',
    getLastGlobalExitRoot: '0x3ed691ef',
    UpdateL1InfoTree: '0xda61aa7823fcd807e37b95aabcbe17f03a6f3efd514176444dae191d27fd66b3',
    UpdateL1InfoTreeV2: '0xaf6c6cd7790e0180a4d22eb8ed846e55846f54ed10e5946db19972b5a0813a59',
    InitL1InfoRootMap: '0x11f50c71891002839c2637ce302087160298255a87f1ea60d40e8db081383fad',
  },
  GlobalExitRootManagerL2: {
    globalExitRootMap: '0x257b3632',
    lastRollupExitRoot: '0x01fd9044',
    insertGlobalExitRoot: '0x12da06b2',
    removeGlobalExitRoots: '0x65f0e347',
    insertedGERHashChain: '0x163bbb46',
    UpdateHashChainValue: '0x65d3bf36615f1f02a134d12dfa9ea6b1d4a52386e825973cd27ddb70895c2319',
    UpdateRemovalHashChainValue: '0xaafec9380147d2b2b14fe23b1343cbaa1b07f86c5adb060bd28cdf1af4c6f0d4',
  },
  RollupManager: {
    getRollupExitRoot: '0xa2967d99',
    rollupCount: '0xf4e92675',
    rollupIDToRollupDataV2: '0x74d9c244',
    chainIDToRollupID: '0x7fb6e76a',
    CreateNewRollup: '0x194c983456df6701c6a50830b90fe80e72b823411d0d524970c9590dc277a641',
    VerifyBatchesTrustedAggregator: '0xd1ec3a1216f08b6eff72e169ceb548b782db18a6614852618d86bb19f3f9b0d3',
    VerifyPessimisticStateTransition: '0xdf47e7dbf79874ec576f516c40bc1483f7c8ddf4b45bfd4baff4650f1229a711',
  },
}

const written: readonly (readonly [ContractName, Abi])[] = [
  ['Bridge', abis.bridgeAbi],
  ['GlobalExitRootManagerL1', abis.globalExitRootManagerL1Abi],
  ['GlobalExitRootManagerL2', abis.globalExitRootManagerL2Abi],
  ['RollupManager', abis.rollupManagerAbi],
  ['TestToken', abis.tokenAbi],
  ['WrappedToken', abis.tokenAbi],
  ['BridgeCaller', abis.bridgeCallerAbi],
  ['MessageReceiver', abis.messageReceiverAbi],
]

test("the devnet's contracts have the selectors and topics of the real contracts", () => {
  for (const [name, selectors] of Object.entries(published)) {
    const compiled = selectorsOf(readCompiledContract(name as ContractName).abi)
    for (const [item, selector] of Object.entries(selectors))
      assert.equal(compiled.get(item)?.selector, selector, `${name}.${item}`)
  }
})

test('every entry of the written ABIs is in the compiled contracts, results and indexed arguments included', () => {
  for (const [name, abi] of written) {
    const compiled = selectorsOf(readCompiledContract(name).abi)
    for (const [item, { shape }] of selectorsOf(abi))
      assert.deepEqual(shape, compiled.get(item)?.shape, `${name}.${item}`)
  }
})

interface Described {
  readonly selector: string
  readonly shape: unknown
}

function selectorsOf(abi: Abi): Map<string, Described> {
  const described = new Map<string, Described>()
  for (const item of abi) {
    if (item.type === 'function')
      described.set(item.name, {
        selector: toFunctionSelector(item),
        shape: [typesOf(item.inputs), typesOf(item.outputs), item.stateMutability],
      })
    else if (item.type === 'event')
      described.set(item.name, { selector: toEventSelector(item), shape: typesOf(item.inputs) })
    else if (item.type === 'error')
      described.set(item.name, {
        selector: toFunctionSelector({ ...item, type: 'function', outputs: [], stateMutability: 'pure' }),
        shape: typesOf(item.inputs),
      })
  }
  return described
}

type Parameters = Extract<AbiItem, { type: 'function' }>['inputs']

function typesOf(parameters: Parameters): unknown[] {
  return parameters.map((parameter) => ({
    type: parameter.type,
    ...('indexed' in parameter && parameter.indexed === true ? { indexed: true } : {}),
    ...('components' in parameter ? { components: typesOf(parameter.components) } : {}),
  }))
}
