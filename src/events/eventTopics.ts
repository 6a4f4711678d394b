/**
 * topic0 of every event that we index. They are written out so that a test finds a mistake in an ABI. `V1`, `V4` and `V9`
 * mark an older form of an event that kept its name. Source: agglayer-contracts, tags v1.0.0 … v12.1.4.
 */
export const eventTopics = {
  // bridge, all networks
  BridgeEvent: '0x501781209a1f8899323b96b4ef08b168df93e0a90c673d1e4cce39366cb62f9b',
  ClaimEventV1: '0x25308c93ceeed162da955b3f7ce3e3f93606579e40fb92029faa9efe27545983',
  ClaimEvent: '0x1df3f2a973a00d6635911755c260704e95e8a5876997546798770f76396fda4d',
  NewWrappedToken: '0x490e59a1701b938786ac72570a1efeac994a3dbe96e2e883e19e902ace6e6a39',
  EmergencyStateActivated: '0x2261efe5aef6fedc1fd1550b25facc9181745623049c7901287030b9ad1a5497',
  EmergencyStateDeactivated: '0x1e5e34eea33501aecf2ebec9fe0e884a40804275ea7fe10b2ba084c8374308b3',
  // bridge, sovereign networks
  SetSovereignTokenAddress: '0xdbe8a5da6a7a916d9adfda9160167a0f8a3da415ee6610e810e753853597fce7',
  SetSovereignWETHAddress: '0xc7318b7ed6ba4f2908a3de396d8ab49b1dadb55db5b55123247a401f29ff8d82',
  RemoveLegacySovereignTokenAddress: '0xc2ae0bd0ec0fd0352bfe5bacac49637af342c1e40f1b80a7f74440dc7fe3f063',
  MigrateLegacyToken: '0xb7f8fd4d1faf9b2929dc269f59c53e3a2bccc44e9950f33a568fcbcb37eb69a9',
  UnsetClaim: '0x4a402ac607e71571d0543be8fcccc358a4df62dcd019a1e7f7e98ca6175e8f2a',
  UpdatedUnsetGlobalIndexHashChain: '0xc80e0aca446a59735359a7ae46124b57c47b892827642779bc6dafc84ba90b03',
  SetClaimV1: '0xab48452e173be3f004b3208cc344b14cc7f8d977fc1ca28171286a7abb5d7570',
  SetClaim: '0x8b65fb527138ff0fedc6b8e75e5a12268c71a1231b370b03209f7a286746823c',
  BackwardLET: '0x2f8b2f36ca0d63af2efffe9d5e728a61c2bc273a3fc0574d12b558a41f149555',
  ForwardLET: '0xe90f3fcbcd86a778012608da0cd7622521c8dac9919dddf25a3fb634adb3d2c8',
  // global exit root manager, L1
  UpdateGlobalExitRoot: '0x61014378f82a0d809aefaf87a8ac9505b89c321808287a6e7810f29304c1fce3',
  UpdateL1InfoTree: '0xda61aa7823fcd807e37b95aabcbe17f03a6f3efd514176444dae191d27fd66b3',
  UpdateL1InfoTreeV2: '0xaf6c6cd7790e0180a4d22eb8ed846e55846f54ed10e5946db19972b5a0813a59',
  InitL1InfoRootMap: '0x11f50c71891002839c2637ce302087160298255a87f1ea60d40e8db081383fad',
  // global exit root manager, sovereign L2
  InsertGlobalExitRoot: '0xb1b866fe5fac68e8f1a4ab2520c7a6b493a954934bbd0f054bd91d6674a4c0d5',
  RemoveLastGlobalExitRoot: '0x605764d0b65b62ecf05dc90f674a00a2e2531fabaf120fdde65790e407fcb7a2',
  UpdateHashChainValue: '0x65d3bf36615f1f02a134d12dfa9ea6b1d4a52386e825973cd27ddb70895c2319',
  UpdateRemovalHashChainValue: '0xaafec9380147d2b2b14fe23b1343cbaa1b07f86c5adb060bd28cdf1af4c6f0d4',
  // rollup manager
  CreateNewRollup: '0x194c983456df6701c6a50830b90fe80e72b823411d0d524970c9590dc277a641',
  AddExistingRollupV4: '0xadfc7d56f7e39b08b321534f14bfb135ad27698f7d2f5ad0edc2356ea9a3f850',
  AddExistingRollupV9: '0xd490df184152edba8455dac3228134939c71f8cb4c8f310c3145dec9037147ac',
  AddExistingRollup: '0x4da47f6e9bbd9ef91887183a576aaebcf1b9bb7d2a567b33b075044c6d36082e',
  VerifyBatches: '0xaac1e7a157b259544ebacd6e8a82ae5d6c8f174e12aa48696277bcc9a661f0b4',
  VerifyBatchesTrustedAggregator: '0xd1ec3a1216f08b6eff72e169ceb548b782db18a6614852618d86bb19f3f9b0d3',
  ConsolidatePendingState: '0x581910eb7a27738945c2f00a91f2284b2d6de9d4e472b12f901c2b0df045e21b',
  OverridePendingState: '0x3182bd6e6f74fc1fdc88b60f3a4f4c7f79db6ae6f5b88a1b3f5a1e28ec210d5e',
} as const

export type EventName = keyof typeof eventTopics
