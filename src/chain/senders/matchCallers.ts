import { addressWord, uint32Word, uint256Word } from '../../protocol/abiWords.js'
import { encodeHex } from '../../protocol/hex.js'
import type { SenderLog } from '../chainClient.types.js'
import type { BridgeCall, BridgeTrace } from './callTrace.js'

/** The calls that make deposits, by selector, and how to read the amount that the event repeats. */
const depositCalls: Readonly<Record<string, { readonly amount: (call: BridgeCall) => bigint | undefined }>> =
  {
    // bridgeAsset(uint32,address,uint256,address,bool,bytes)
    '0xcd586579': { amount: (call) => argument(call, (data) => uint256Word(data, 2)) },
    // bridgeMessage(uint32,address,bool,bytes): the ether sent along
    '0x240ff378': { amount: (call) => (/^0x[0-9a-f]+$/.test(call.value) ? BigInt(call.value) : 0n) },
    // bridgeMessageWETH(uint32,address,uint256,bool,bytes)
    '0xb8b284d0': { amount: (call) => argument(call, (data) => uint256Word(data, 2)) },
  }

/** The calls that claim, by selector, and the word that is the (global) index: after 64 siblings, before etrog after 32. */
const claimIndexWords: Readonly<Record<string, number>> = {
  '0xccaa2d11': 64,
  '0xf5efcd79': 64,
  '0x2cffd02e': 32,
  '0x2d2c9d94': 32,
}

/**
 * Who called the bridge for each log of one transaction. A ForwardLET is matched by its event only, never by a call's input.
 * @param logs all deposits, claims and ForwardLETs of the transaction, by log index.
 * @returns callers (0x + 40 lower-case digits) by log index; a log whose call is not certain is left out.
 */
export function matchCallers(logs: readonly SenderLog[], trace: BridgeTrace): Map<number, string> {
  return trace.events.length > 0 ? matchByEvents(logs, trace) : matchByInputs(logs, trace)
}

/** The tracer shows events inside their calls: deposit count or global index decide. */
function matchByEvents(logs: readonly SenderLog[], trace: BridgeTrace): Map<number, string> {
  const callers = new Map<number, string>()
  const left = [...trace.events]
  for (const log of logs) {
    const key = keyOf(log)
    const at = left.findIndex(
      (event) => event.action === log.kind && (key === undefined || event.key === key),
    )
    if (at < 0) continue
    setCaller(callers, log, left[at]!.caller)
    // A claim that was unset and made again in one transaction has the same key twice: each event matches one log.
    left.splice(at, 1)
  }
  return callers
}

function keyOf(log: SenderLog): bigint | undefined {
  if (log.kind === 'claim') return log.globalIndex
  return log.depositCount === undefined ? undefined : BigInt(log.depositCount)
}

/** The tracer shows only calls: their inputs decide. */
function matchByInputs(logs: readonly SenderLog[], trace: BridgeTrace): Map<number, string> {
  const callers = new Map<number, string>()
  const claims = logs.filter((log) => log.kind === 'claim')
  matchClaims(claims, trace.calls, callers)
  const deposits = logs.filter((log) => log.kind === 'deposit')
  const calls = trace.calls.filter((call) => Object.hasOwn(depositCalls, selector(call)))
  matchDeposits(deposits, calls, callers)
  return callers
}

/**
 * Matches claims with calls by the global index, which both name. Their order proves nothing: some contract versions emit the event
 * before the inner calls, others after them.
 */
function matchClaims(
  claims: readonly SenderLog[],
  calls: readonly BridgeCall[],
  callers: Map<number, string>,
): void {
  const left = calls.filter((call) => claimIndexWords[selector(call)] !== undefined)
  for (const claim of claims) {
    const at = left.findIndex((call) => {
      const index = argument(call, (data) => uint256Word(data, claimIndexWords[selector(call)]!))
      return claim.globalIndex === undefined ? left.length === 1 : index === claim.globalIndex
    })
    if (at < 0) continue
    setCaller(callers, claim, left[at]!.caller)
    left.splice(at, 1)
  }
}

/** The arguments of a call that makes a deposit, as far as the event repeats them. */
interface DepositCall {
  readonly caller: string | undefined
  readonly network: number
  /** Undefined when the argument is no address. */
  readonly address: string | undefined
  readonly amount: bigint | undefined
}

/** The callers of the calls for one destination: all of them, and those for each amount. */
interface Callers {
  readonly all: Set<string | undefined>
  readonly byAmount: Map<bigint | undefined, Set<string | undefined>>
}

/**
 * If there are as many calls as logs, and each call fits its log, they belong together in order. Otherwise a log's caller is
 * certain only when all calls that fit the log have the same caller. A transaction may have thousands of both, so nothing is done
 * for each pair of a log and a call.
 */
function matchDeposits(
  deposits: readonly SenderLog[],
  bridgeCalls: readonly BridgeCall[],
  callers: Map<number, string>,
): void {
  const calls = bridgeCalls.map(readDepositCall)
  if (calls.length === deposits.length && deposits.every((log, index) => fits(log, calls[index]!))) {
    for (const [index, log] of deposits.entries()) setCaller(callers, log, calls[index]!.caller)
    return
  }
  const byDestination = new Map<string, Callers>()
  for (const call of calls) addCall(byDestination, `${call.network} ${call.address}`, call)
  for (const log of deposits) {
    const { all, byAmount } = callersFor(log, calls, byDestination)
    const candidates = byAmount.get(log.amount) ?? all
    if (candidates.size === 1) setCaller(callers, log, [...candidates][0])
  }
}

function readDepositCall(call: BridgeCall): DepositCall {
  const address = argument(call, (data) => addressWord(data, 1))
  return {
    caller: call.caller,
    network: argument(call, (data) => uint32Word(data, 0)),
    address: address && encodeHex(address),
    amount: depositCalls[selector(call)]!.amount(call),
  }
}

function callersFor(
  log: SenderLog,
  calls: readonly DepositCall[],
  byDestination: ReadonlyMap<string, Callers>,
): Callers {
  const { destinationNetwork: network, destinationAddress: address } = log
  if (network !== undefined && address !== undefined)
    return byDestination.get(`${network} ${encodeHex(address)}`) ?? NOBODY
  const fitting = new Map<string, Callers>()
  for (const call of calls) if (fits(log, call)) addCall(fitting, '', call)
  return fitting.get('') ?? NOBODY
}

const NOBODY: Callers = { all: new Set(), byAmount: new Map() }

function addCall(places: Map<string, Callers>, key: string, { caller, amount }: DepositCall): void {
  const place = places.get(key) ?? { all: new Set(), byAmount: new Map() }
  places.set(key, place)
  place.all.add(caller)
  const exact = place.byAmount.get(amount) ?? new Set()
  place.byAmount.set(amount, exact.add(caller))
}

/** The amount need not agree: with a token that takes a fee, less arrives than the call says. */
function fits({ destinationNetwork, destinationAddress }: SenderLog, call: DepositCall): boolean {
  return (
    (destinationNetwork === undefined || call.network === destinationNetwork) &&
    (destinationAddress === undefined || call.address === encodeHex(destinationAddress))
  )
}

/** The log stays without a caller when the trace contradicts itself. */
function setCaller(callers: Map<number, string>, { logIndex }: SenderLog, caller: string | undefined): void {
  if (caller !== undefined) callers.set(logIndex, caller)
}

const selector = (call: BridgeCall): string => call.input.slice(0, 10)

/** Reads arguments of a call: `data` is its input without the selector. */
function argument<T>(call: BridgeCall, read: (data: string) => T): T {
  return read(`0x${call.input.slice(10)}`)
}
